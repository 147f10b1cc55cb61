package io.pmemcsi.operator.sidecars;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.operator.facts.KubernetesVersion;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SidecarsTest {

  @ParameterizedTest
  @CsvSource({"1.20, v2.1.1", "1.21, v2.2.2", "1.24, v3.2.1", "1.33, v5.3.0", "1.40, v6.3.0"})
  void provisionerFollowsTheServer(String server, String tag) {
    assertThat(Sidecars.image(Sidecar.PROVISIONER, KubernetesVersion.parse(server)))
        .isEqualTo("registry.k8s.io/sig-storage/csi-provisioner:" + tag);
  }

  @Test
  void everySidecarHasAnImageForEveryServer() {
    for (Sidecar sidecar : Sidecar.values()) {
      for (int minor = 19; minor <= 40; minor++) {
        assertThat(Sidecars.image(sidecar, new KubernetesVersion(1, minor)))
            .matches("registry\\.k8s\\.io/sig-storage/[a-z-]+:v\\d+\\.\\d+\\.\\d+");
      }
    }
  }

  @Test
  void versionsOfVendorsAreUnderstood() {
    assertThat(KubernetesVersion.of("1", "20+"))
        .isEqualTo(KubernetesVersion.parse("v1.20.2-gke.1"));
  }
}
