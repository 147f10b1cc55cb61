package io.pmemcsi.operator.objects;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.operator.facts.KubernetesVersion;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SidecarReleaseTest {

  @ParameterizedTest
  @CsvSource({"1.20, v2.1.1", "1.21, v2.2.2", "1.24, v3.2.1", "1.33, v5.3.0", "1.40, v6.3.0"})
  void provisionerFollowsTheServer(String server, String tag) {
    assertThat(SidecarRelease.of(Sidecar.PROVISIONER, KubernetesVersion.parse(server)).image())
        .isEqualTo("registry.k8s.io/sig-storage/csi-provisioner:" + tag);
  }

  /** From csi-provisioner 5 on topology is always on. */
  @ParameterizedTest
  @CsvSource({"1.20, true", "1.26, true", "1.27, false", "1.34, false"})
  void provisionerGetsTheTopologyGateOnlyWhereItNeedsIt(String server, boolean gate) {
    assertThat(
            SidecarRelease.of(Sidecar.PROVISIONER, KubernetesVersion.parse(server))
                .flags()
                .contains("--feature-gates=Topology=true"))
        .isEqualTo(gate);
  }

  @Test
  void theFlagsOfAReleaseFollowTheArgumentsOfTheContainer() {
    var release =
        new SidecarRelease(
            Sidecar.REGISTRAR,
            KubernetesVersion.OLDEST,
            "v9.0.0",
            List.of("--new-flag"),
            List.of(),
            List.of());

    assertThat(release.arguments("--v=3", "--timeout=10s"))
        .containsExactly("--v=3", "--timeout=10s", "--new-flag");
  }

  @Test
  void everySidecarHasAnImageForEveryServer() {
    for (Sidecar sidecar : Sidecar.values()) {
      for (int minor = 19; minor <= 40; minor++) {
        assertThat(SidecarRelease.of(sidecar, new KubernetesVersion(1, minor)).image())
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
