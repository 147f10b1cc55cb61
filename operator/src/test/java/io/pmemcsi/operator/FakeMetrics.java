package io.pmemcsi.operator;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/** The metrics of a pod that does not really run. */
final class FakeMetrics implements AutoCloseable {

  private static final int PORT = 10010;

  private final String ip;
  private final HttpServer server;

  private FakeMetrics(String ip, HttpServer server) {
    this.ip = ip;
    this.server = server;
  }

  static FakeMetrics serve(Supplier<String> text) throws IOException {
    var random = ThreadLocalRandom.current();
    // an address of this machine that no other test uses, because the port is a fixed one
    String ip = "127.%d.%d.77".formatted(random.nextInt(1, 255), random.nextInt(255));
    HttpServer server = HttpServer.create(new InetSocketAddress(ip, PORT), 0);
    server.createContext(
        "/metrics",
        exchange -> {
          byte[] bytes = text.get().getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
    return new FakeMetrics(ip, server);
  }

  /** Makes a pod one that serves these metrics. */
  void become(KubernetesClient client, Pod pod) {
    client
        .resource(pod)
        .editStatus(
            edited -> {
              edited.getStatus().setPodIP(ip);
              return edited;
            });
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
