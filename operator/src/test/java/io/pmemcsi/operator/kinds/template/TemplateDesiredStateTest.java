package io.pmemcsi.operator.kinds.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.TemplateSettings;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.objects.Sidecar;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TemplateDesiredStateTest {

  private static final String PLAIN =
      """
      spec:
        driverName: d.example.com
        driverSocket: /csi/csi.sock
        %s
        driverPerNodeTemplate:
          spec: {containers: [{name: driver, image: i, securityContext: {privileged: true}}]}
        driverControllerTemplate:
          spec: {containers: [{name: driver, image: i}]}
      """;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "containers: [{name: d}], volumes: [{name: kubelet-root}]|volume \"kubelet-root\"",
        "containers: [{name: d}, {name: csi-driver-registrar}]|container \"csi-driver-registrar\"",
        "containers: [{name: d}], initContainers: [{name: csi-probe}]|container \"csi-probe\"",
        "containers: [{name: d, ports: [{name: csi-probe, containerPort: 1}]}]|port \"csi-probe\"",
        "containers: [{name: d, ports: [{containerPort: 9808}]}]|port 9808 of container \"d\"",
        "containers: [{name: d, volumeMounts: [{name: v, mountPath: /csi/}]}]|mounts something at"
            + " /csi",
        "containers: [{name: d, livenessProbe: {}}]|has a livenessProbe of its own"
      })
  void reservedNameIsRejected(String pod, String message) {
    String yaml =
        """
        spec:
          driverName: d.example.com
          driverSocket: /csi/csi.sock
          probePeriodSeconds: 60
          driverPerNodeTemplate: {spec: {%s}}
        """
            .formatted(pod);

    assertThatThrownBy(() -> objects(yaml, OperatorConfig.DEFAULT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("spec.driverPerNodeTemplate: ")
        .hasMessageContaining(message);
  }

  @Test
  void conflictsInBothTemplatesAreReportedAtOnce() {
    String yaml =
        """
        spec:
          driverName: d.example.com
          driverSocket: /csi/csi.sock
          driverPerNodeTemplate:
            metadata: {labels: {csidriver.storage.openshift.io/daemonset: other}}
            spec: {containers: [{name: d}]}
          driverControllerTemplate: {spec: {containers: [{name: csi-attacher}]}}
        """;

    assertThatThrownBy(() -> objects(yaml, OperatorConfig.DEFAULT))
        .hasMessageContaining("label \"csidriver.storage.openshift.io/daemonset\"")
        .hasMessageContaining("spec.driverControllerTemplate: the name of container");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "--health-port=70000|would listen on port 70000: use 1 to 65535",
        "--health-port=0|would listen on port 0: use 1 to 65535",
        "--health-port|\"--health-port\" does not say where the probe listens",
        "-health-port=many|\"-health-port=many\" does not say where the probe listens",
        "--http-endpoint=:9900|use --health-port=NUMBER, in one argument"
      })
  void portOfTheProbeMustBeOne(String argument, String message) {
    String yaml =
        PLAIN.formatted(
            "probePeriodSeconds: 60\n  sidecars: {livenessProbe: {extraArgs: [\"%s\"]}}"
                .formatted(argument));

    assertThatThrownBy(() -> objects(yaml, OperatorConfig.DEFAULT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("spec.sidecars.livenessProbe.extraArgs: ")
        .hasMessageContaining(message);
  }

  @Test
  void lastPortLeavesNoneForTheControllerOnTheSameNetwork() {
    String yaml =
        """
        spec:
          driverName: d.example.com
          driverSocket: /csi/csi.sock
          probePeriodSeconds: 60
          sidecars: {livenessProbe: {extraArgs: [--health-port=65535]}}
          driverPerNodeTemplate: {spec: {hostNetwork: true, containers: [{name: d}]}}
          driverControllerTemplate: {spec: {hostNetwork: true, containers: [{name: d}]}}
        """;

    assertThatThrownBy(() -> objects(yaml, OperatorConfig.DEFAULT))
        .hasMessageContaining("would listen on port 65536: use 1 to 65534");
  }

  @Test
  void hostPortOfBothTemplatesIsAConflictOnTheSameNode() {
    String yaml =
        """
        spec:
          driverName: d.example.com
          driverSocket: /csi/csi.sock
          driverPerNodeTemplate:
            spec: {containers: [{name: d, ports: [{containerPort: 1, hostPort: 9000}]}]}
          driverControllerTemplate:
            spec:
              nodeSelector: {%s}
              hostNetwork: true
              containers: [{name: d, ports: [{containerPort: 9000}]}]
        """;

    assertThatThrownBy(() -> objects(yaml.formatted(""), OperatorConfig.DEFAULT))
        .hasMessageContaining(
            "spec.driverControllerTemplate: the host port 9000 (TCP) is the one of"
                + " spec.driverPerNodeTemplate");
    String apart =
        yaml.formatted("zone: b")
            .replace(
                "{containers: [{name: d, ports: [{containerPort: 1",
                "{nodeSelector: {zone: a}, containers: [{name: d, ports: [{containerPort: 1");
    assertThat(objects(apart, OperatorConfig.DEFAULT)).isNotEmpty();
  }

  @Test
  void configurationSetsFieldsThatTheResourceOmits() {
    var config =
        new OperatorConfig(
            Map.of(Sidecar.ATTACHER, "mine:1"),
            Map.of("infra", "yes"),
            3,
            Optional.empty(),
            Optional.empty(),
            "/data/kubelet");

    List<HasMetadata> objects = objects(PLAIN.formatted(""), config);

    var deployment = one(objects, Deployment.class);
    assertThat(deployment.getSpec().getReplicas()).isEqualTo(3);
    assertThat(deployment.getSpec().getTemplate().getSpec().getNodeSelector())
        .containsExactly(Map.entry("infra", "yes"));
    assertThat(deployment.getSpec().getTemplate().getSpec().getContainers())
        .extracting(Container::getImage)
        .contains("mine:1");
    assertThat(one(objects, DaemonSet.class).getSpec().getTemplate().getSpec().getVolumes())
        .extracting(volume -> volume.getHostPath().getPath())
        .containsExactly(
            "/data/kubelet/plugins_registry",
            "/data/kubelet/plugins/d.example.com",
            "/data/kubelet");
    assertThat(one(objects(PLAIN.formatted("replicas: 5"), config), Deployment.class))
        .satisfies(chosen -> assertThat(chosen.getSpec().getReplicas()).isEqualTo(5));
  }

  @Test
  void configuredRolesReplaceCreatedOnes() {
    var config =
        new OperatorConfig(
            Map.of(),
            Map.of(),
            1,
            Optional.of("system:openshift:csi-driver"),
            Optional.of("election"),
            "/var/lib/kubelet");

    List<HasMetadata> objects = objects(PLAIN.formatted(""), config);

    assertThat(objects)
        .noneMatch(object -> object instanceof ClusterRole || object instanceof Role);
    assertThat(one(objects, ClusterRoleBinding.class).getRoleRef().getName())
        .isEqualTo("system:openshift:csi-driver");
    assertThat(one(objects, RoleBinding.class).getRoleRef())
        .satisfies(
            role -> {
              assertThat(role.getKind()).isEqualTo("ClusterRole");
              assertThat(role.getName()).isEqualTo("election");
            });
  }

  @Test
  void nodePodsHaveAServiceAccountWithoutPermissions() {
    List<HasMetadata> objects = objects(PLAIN.formatted(""), OperatorConfig.DEFAULT);

    assertThat(
            one(objects, DaemonSet.class).getSpec().getTemplate().getSpec().getServiceAccountName())
        .isEqualTo("name-node");
    assertThat(objects)
        .filteredOn(object -> object instanceof ClusterRoleBinding || object instanceof RoleBinding)
        .hasSize(2)
        .noneMatch(object -> new KubernetesSerialization().asJson(object).contains("name-node"));
  }

  private static <T extends HasMetadata> T one(List<HasMetadata> objects, Class<T> kind) {
    return objects.stream().filter(kind::isInstance).map(kind::cast).findFirst().orElseThrow();
  }

  private static List<HasMetadata> objects(String yaml, OperatorConfig config) {
    CSIDriverDeployment resource =
        new KubernetesSerialization().unmarshal(yaml, CSIDriverDeployment.class);
    return TemplateDesiredState.of(
            new TemplateDriver(
                "ns",
                "name",
                TemplateSettings.of(resource),
                config,
                ClusterFacts.assumed(KubernetesVersion.NEWEST_KNOWN, "ns", "any")))
        .objects();
  }
}
