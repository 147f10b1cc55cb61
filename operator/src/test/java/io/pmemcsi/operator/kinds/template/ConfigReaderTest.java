package io.pmemcsi.operator.kinds.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.operator.objects.Sidecar;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigReaderTest {

  @Test
  void everyKeyHasItsEffect() {
    OperatorConfig config =
        ConfigReader.read(
            """
            defaultImages:
              attacherImage: a
              provisionerImage: p
              driverRegistrarImage: r
              livenessProbeImage: l
              resizerImage: z
              snapshotterImage: s
            infrastructureNodeSelector: {node-role.kubernetes.io/infra: ""}
            deploymentReplicas: 3
            clusterRoleName: system:openshift:csi-driver
            leaderElectionClusterRoleName: election
            kubeletRootDir: /var/data/kubelet
            """);

    assertThat(config)
        .isEqualTo(
            new OperatorConfig(
                Map.of(
                    Sidecar.ATTACHER, "a",
                    Sidecar.PROVISIONER, "p",
                    Sidecar.REGISTRAR, "r",
                    Sidecar.LIVENESS_PROBE, "l",
                    Sidecar.RESIZER, "z",
                    Sidecar.SNAPSHOTTER, "s"),
                Map.of("node-role.kubernetes.io/infra", ""),
                3,
                Optional.of("system:openshift:csi-driver"),
                Optional.of("election"),
                "/var/data/kubelet"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "# nothing but a remark\n\n",
        "deploymentReplicas: 0",
        "kubeletRootDir: ''",
        "defaultImages:",
        "defaultImages: {attacherImage: ''}"
      })
  void missingEmptyAndZeroValuesMeanTheDefault(String yaml) {
    assertThat(ConfigReader.read(yaml)).isEqualTo(OperatorConfig.DEFAULT);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "deploymentReplica: 2 | deploymentReplica: is not a key: choose from clusterRoleName,",
        "defaultImages: {attachrImage: a} | defaultImages.attachrImage: is not a key",
        "deploymentReplicas: two | deploymentReplicas: \"two\": must be a whole number from 1",
        "deploymentReplicas: 1.5 | deploymentReplicas: 1.5: must be a whole number",
        "deploymentReplicas: -1 | deploymentReplicas: -1: must be",
        "deploymentReplicas: 12345678901 | deploymentReplicas: 12345678901: must be",
        "defaultImages: {attacherImage: a b} | defaultImages.attacherImage: \"a b\": must be an"
            + " image",
        "defaultImages: [a] | defaultImages: must hold keys and values",
        "kubeletRootDir: var | kubeletRootDir: \"var\": must be an absolute path",
        "kubeletRootDir: /var/../x | kubeletRootDir: \"/var/../x\": write the path without",
        "kubeletRootDir: / | kubeletRootDir: \"/\": must be an absolute path",
        "clusterRoleName: 5 | clusterRoleName: 5: must be a name of a ClusterRole",
        "infrastructureNodeSelector: {infra: true} | infrastructureNodeSelector.infra: true: is"
            + " not",
        "infrastructureNodeSelector: yes-please | infrastructureNodeSelector: must hold labels",
        "[1] | the file must hold keys and values",
        "a: [ | line 1 is no YAML: ",
        "deploymentReplicas: !!int two | document 1 has a value that does not fit its tag: "
      })
  void invalidValueIsReportedWithItsKey(String yaml, String message) {
    assertThatThrownBy(() -> ConfigReader.read(yaml))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void secondDocumentIsRejected() {
    assertThatThrownBy(() -> ConfigReader.read("clusterRoleName: a\n---\nclusterRoleName: b\n"))
        .hasMessage("it has 2 documents: write all keys into one");
  }

  @Test
  void allInvalidValuesAreReportedAtOnce() {
    assertThatThrownBy(() -> ConfigReader.read("wrong: 1\nalsoWrong: 2"))
        .hasMessageContaining("wrong: is not a key")
        .hasMessageContaining("alsoWrong: is not a key");
  }
}
