package io.pmemcsi.operator.tools.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.tools.render.Rendering;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OperatorInstallationTest {

  private final List<HasMetadata> objects =
      new OperatorInstallation("pmem-csi", OperatorInstallation.DEFAULT_IMAGE).objects();

  @Test
  void noRoleHasWildcards() {
    assertThat(rules(objects))
        .allSatisfy(
            rule -> {
              assertThat(rule.getVerbs()).doesNotContain("*");
              assertThat(rule.getResources()).doesNotContain("*");
              assertThat(rule.getApiGroups()).doesNotContain("*");
            });
  }

  @Test
  void secretsAreReadInOneNamespaceOnly() {
    List<HasMetadata> clusterWide = objects.stream().filter(ClusterRole.class::isInstance).toList();

    assertThat(rules(clusterWide))
        .allSatisfy(rule -> assertThat(rule.getResources()).doesNotContain("secrets"));
  }

  /** The permissions of driver pods, for each version and with all features. */
  @ParameterizedTest
  @ValueSource(strings = {"1.20", "1.21", "1.36"})
  void rolesOfDriversHaveNoWildcardAndReadNoSecrets(String version) {
    var rendering = new Rendering();
    List<HasMetadata> driver =
        rendering.objects(
            rendering.read(
                """
                apiVersion: pmem-csi.intel.com/v1beta1
                kind: PmemCSIDeployment
                metadata: {name: a}
                spec: {controllerTLS: {managed: true}}
                """),
            new ClusterFacts(
                KubernetesVersion.parse(version), "ns", "image", EnumSet.allOf(ServedApi.class)));

    assertThat(rules(driver))
        .hasSizeGreaterThan(5)
        .allSatisfy(
            rule -> {
              assertThat(rule.getVerbs()).doesNotContain("*");
              assertThat(rule.getResources()).doesNotContain("*", "secrets");
              assertThat(rule.getApiGroups()).doesNotContain("*");
            });
  }

  private static List<PolicyRule> rules(List<HasMetadata> objects) {
    return objects.stream()
        .flatMap(
            object ->
                switch (object) {
                  case Role role -> role.getRules().stream();
                  case ClusterRole role -> role.getRules().stream();
                  default -> Stream.<PolicyRule>empty();
                })
        .toList();
  }
}
