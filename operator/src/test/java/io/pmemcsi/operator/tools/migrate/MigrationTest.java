package io.pmemcsi.operator.tools.migrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.tools.render.Rendering;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class MigrationTest {

  private static final String HEAD =
      """
      apiVersion: pmem-csi.intel.com/v1alpha1
      kind: Deployment
      metadata: {name: %s, labels: {a: b}}
      spec: {%s}
      """;

  private final Rendering rendering = new Rendering();

  private Migration migrate(String name, String spec) {
    return Migration.of(rendering.read(HEAD.formatted(name, spec)));
  }

  @Test
  void fieldsWithACounterpartAreKeptAndTheOthersAreNamed() throws Exception {
    Migration migration =
        Migration.of(
            rendering.read(
                Files.readString(Path.of("src/test/resources/resources/legacy/full.yaml"))));

    assertThat(migration.resource().getMetadata().getName()).isEqualTo("pmem-csi.intel.com");
    var spec = migration.resource().getSpec();
    assertThat(spec.image()).isEqualTo("registry.example.com/pmem-csi:1");
    assertThat(spec.deviceMode()).isEqualTo("direct");
    assertThat(spec.pmemPercentage()).isEqualTo(50);
    assertThat(spec.kubeletDir()).isEqualTo("/data/kubelet");
    assertThat(spec.nodeResources()).isNotNull();
    assertThat(spec.controllerResources()).isNull();
    assertThat(migration.remarks())
        .hasSize(4)
        .anySatisfy(remark -> assertThat(remark).contains("instead of full.example.com"))
        .anySatisfy(remark -> assertThat(remark).startsWith("controllerResources has no"));
    assertThat(migration.yaml())
        .startsWith("# The resource and its objects are named after the driver")
        .doesNotContain("status");
  }

  @Test
  void certificatesAndKeysAreNamedAndNotPrinted() {
    Migration migration =
        migrate("a", "registryKey: c2VjcmV0a2V5, nodeControllerKey: c2VjcmV0a2V5");

    assertThat(migration.remarks())
        .singleElement()
        .asString()
        .startsWith("registryKey, nodeControllerKey: no counterpart");
    assertThat(migration.yaml()).doesNotContain("c2VjcmV0a2V5").contains("a: b\n");
  }

  /** The volumes of the old driver are those of the new one. */
  @Test
  void driverKeepsItsNameItsSocketAndItsState() {
    HasMetadata old = rendering.read(HEAD.formatted("a", "driverName: b.example.com"));
    HasMetadata migrated = rendering.read(Migration.of(old).yaml());

    assertThat(paths(migrated)).isEqualTo(paths(old));
    assertThat(arguments(migrated))
        .containsAll(
            arguments(old).stream()
                .filter(argument -> !argument.matches("-(registry|controller|ca|cert|key).*"))
                .toList());
    assertThat(driver(migrated)).isEqualTo(driver(old)).isEqualTo("b.example.com");
  }

  private List<HasMetadata> objects(HasMetadata resource) {
    return rendering.objects(
        resource, ClusterFacts.assumed(KubernetesVersion.NEWEST_KNOWN, "ns", "image"));
  }

  private DaemonSet nodes(HasMetadata resource) {
    return (DaemonSet)
        objects(resource).stream()
            .filter(object -> object instanceof DaemonSet)
            .findFirst()
            .orElseThrow();
  }

  private List<String> paths(HasMetadata resource) {
    return nodes(resource).getSpec().getTemplate().getSpec().getVolumes().stream()
        .filter(volume -> volume.getHostPath() != null)
        .map(volume -> volume.getHostPath().getPath())
        .toList();
  }

  private List<String> arguments(HasMetadata resource) {
    return nodes(resource).getSpec().getTemplate().getSpec().getContainers().getFirst().getArgs();
  }

  private String driver(HasMetadata resource) {
    return objects(resource).stream()
        .filter(CSIDriver.class::isInstance)
        .map(object -> object.getMetadata().getName())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void otherKindsAreRejected() {
    HasMetadata other =
        rendering.read(
            "apiVersion: pmem-csi.intel.com/v1beta1\nkind: PmemCSIDeployment\nmetadata: {name: a}");

    assertThatThrownBy(() -> Migration.of(other))
        .isInstanceOf(UsageException.class)
        .hasMessageContaining("name a Deployment of pmem-csi.intel.com/v1alpha1");
  }
}
