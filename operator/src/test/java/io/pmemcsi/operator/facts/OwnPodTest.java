package io.pmemcsi.operator.facts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.pmemcsi.base.error.FatalException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OwnPodTest {

  private static final OwnPod POD = new OwnPod(Map.of("POD_NAME", "me"));

  private HttpServer server;

  @BeforeEach
  void listen() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.start();
  }

  @AfterEach
  void close() {
    server.stop(0);
  }

  @Test
  void missingPermissionToReadThePodNamesTheRemedy() {
    answer(
        403,
        """
        {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403,
         "reason": "Forbidden", "message": "pods \\"me\\" is forbidden: for a test"}
        """);

    assertThatThrownBy(this::image)
        .isInstanceOf(FatalException.class)
        .hasMessage(
            "cannot read pod \"me\" in namespace \"ns\": pods \"me\" is forbidden: for a test;"
                + " allow this account to get pods there, or name the driver image with -image");
  }

  /** Drivers from templates need none. */
  @Test
  void anOperatorOutsideOfAPodHasNoImage() {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      assertThat(new OwnPod(Map.of()).image(client, "ns")).isEmpty();
    }
  }

  @Test
  void unreachableServerIsReported() {
    server.stop(0);

    assertThatThrownBy(this::image)
        .isInstanceOf(FatalException.class)
        .hasMessageContaining("cannot read pod \"me\" in namespace \"ns\": no connection; allow")
        .hasMessageNotContaining("Exception");
  }

  private Optional<String> image() {
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl("http://localhost:" + server.getAddress().getPort())
            .withRequestRetryBackoffLimit(0)
            .build();
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
      return POD.image(client, "ns");
    }
  }

  private void answer(int code, String json) {
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    server.createContext(
        "/",
        exchange -> {
          exchange.getResponseHeaders().add("Content-Type", "application/json");
          exchange.sendResponseHeaders(code, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
  }
}
