package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.operator.tools.render.Rendering;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Keeps the files for an installation without the operator up to date. A directory serves its
 * version of Kubernetes and all later ones up to the next directory.
 */
class DeploymentFilesTest {

  private static final Path DEPLOY = Path.of("../deploy");
  private static final List<String> VERSIONS =
      List.of("1.20", "1.21", "1.22", "1.25", "1.27", "1.34");
  private static final List<String> MODES = List.of("lvm", "direct");
  private static final String NAMESPACE = "pmem-csi";
  private static final String HEADER =
      "# Made by 'make generate' (DeploymentFilesTest): do not edit.\n";

  static Stream<Arguments> versionsAndModes() {
    return VERSIONS.stream()
        .flatMap(version -> MODES.stream().map(mode -> Arguments.of(version, mode)));
  }

  @ParameterizedTest
  @MethodSource("versionsAndModes")
  void fileIsUpToDate(String version, String deviceMode) throws IOException {
    var rendering = new Rendering();
    HasMetadata resource =
        rendering.read(
            """
            apiVersion: pmem-csi.intel.com/v1beta1
            kind: PmemCSIDeployment
            metadata: {name: pmem-csi.intel.com}
            spec:
              deviceMode: %s
              controllerTLSSecret: pmem-csi-intel-com-controller-secret
              mutatePods: Never
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

  @Test
  void noFileOfAPreviousReleaseIsLeft() throws IOException {
    try (Stream<Path> files = Files.walk(DEPLOY)) {
      assertThat(
              files
                  .filter(Files::isRegularFile)
                  .map(file -> DEPLOY.relativize(file).toString())
                  .filter(file -> file.startsWith("kubernetes-")))
          .as("no generator writes these files of deploy/ any more: delete them")
          .isSubsetOf(
              VERSIONS.stream()
                  .flatMap(
                      version ->
                          MODES.stream()
                              .map(
                                  mode ->
                                      "kubernetes-%s/pmem-csi-%s.yaml".formatted(version, mode)))
                  .toList());
    }
  }
}
