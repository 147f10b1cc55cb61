package io.pmemcsi.controller.cluster;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.pmemcsi.controller.volume.PodVolumes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;

class NewClaimsTest {

  /** The pod that is being created waits, and with it the API server. */
  @Test
  void anApiServerThatDoesNotAnswerIsNotWaitedForLongerThanASecond() throws IOException {
    try (var silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        KubernetesClient client = client(silent.getLocalPort());
        ClusterCache cache = ClusterCache.start(client)) {
      var claims = new NewClaims(client, cache);

      assertThatThrownBy(
              () -> claims.ensureKnown(pod(new PodVolumes.ClaimReference("data", "unknown"))))
          .isInstanceOf(IOException.class)
          .hasMessage("no answer from the API server within 600 ms");
      assertThatCode(
              () ->
                  claims.ensureKnown(
                      pod(new PodVolumes.Inline("data", "other.example.com", "", ""))))
          .as("a pod without claims needs no answer")
          .doesNotThrowAnyException();
    }
  }

  private static PodVolumes pod(PodVolumes.Volume volume) {
    return new PodVolumes("default", "web", "", List.of(volume));
  }

  private static KubernetesClient client(int port) {
    return new KubernetesClientBuilder()
        .withConfig(
            new ConfigBuilder(Config.empty()).withMasterUrl("http://127.0.0.1:" + port).build())
        .build();
  }
}
