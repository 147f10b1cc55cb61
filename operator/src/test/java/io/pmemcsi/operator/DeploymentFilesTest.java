package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.install.OperatorInstallation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Keeps the files for an installation without the operator up to date. A folder serves its version
 * of Kubernetes and all later ones up to the next folder.
 */
class DeploymentFilesTest {

  private static final Path DEPLOY = Path.of("../deploy");
  private static final String NAMESPACE = "pmem-csi";
  private static final String HEADER =
      "# Made by 'make generate' (DeploymentFilesTest): do not edit.\n";

  @ParameterizedTest
  @CsvSource({
    "1.20, lvm", "1.20, direct", "1.21, lvm", "1.21, direct", "1.22, lvm", "1.22, direct",
    "1.25, lvm", "1.25, direct", "1.27, lvm", "1.27, direct", "1.34, lvm", "1.34, direct"
  })
  void fileIsUpToDate(String version, String deviceMode) throws IOException {
    var rendering = new Rendering();
    HasMetadata resource =
        rendering.read(
            """
            apiVersion: pmem-csi.intel.com/v1beta1
            kind: PmemCSIDeployment
            metadata: {name: pmem-csi.intel.com}
            spec: {deviceMode: %s}
            """
                .formatted(deviceMode));
    var facts =
        ClusterFacts.assumed(
            KubernetesVersion.parse(version), NAMESPACE, OperatorInstallation.DEFAULT_IMAGE);
    var objects = new ArrayList<HasMetadata>();
    objects.add(new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build());
    objects.addAll(rendering.objects(resource, facts));
    String yaml = HEADER + rendering.yaml(objects);
    Path file = DEPLOY.resolve("kubernetes-" + version).resolve("pmem-csi-" + deviceMode + ".yaml");
    if (Boolean.getBoolean("pmem-csi.generate")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, yaml);
    }

    assertThat(Files.readString(file)).isEqualTo(yaml);
  }
}
