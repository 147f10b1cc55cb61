package io.pmemcsi.standin;

import com.sun.net.httpserver.HttpServer;
import csi.v1.GetCapacityRequest;
import csi.v1.NodeGetInfoResponse;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/**
 * Stand-in for external-provisioner on every node ({@code --node-deployment}): provisions claims
 * for this node, deletes released volumes of this node, publishes the node's capacity. It polls
 * where the real one watches.
 */
final class ProvisionerStandIn {

  private static final long POLL_MILLIS = 500;

  private ProvisionerStandIn() {}

  public static void main(String... flags) throws IOException, InterruptedException {
    Arguments arguments = Arguments.parse(flags);
    if (!arguments.isTrue("node-deployment")) {
      throw new IllegalArgumentException("this stand-in only knows --node-deployment");
    }
    serveMetrics(arguments.get("metrics-address"));
    String node = System.getenv("NODE_NAME");
    if (node == null) {
      throw new IllegalArgumentException("the variable NODE_NAME is missing");
    }
    DriverClient driver = new DriverClient(arguments.get("csi-address"));
    String name = driver.name();
    NodeGetInfoResponse info = driver.node();
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      Claims claims =
          new Claims(
              client,
              driver,
              name,
              node,
              info.getAccessibleTopology(),
              arguments.get("default-fstype"));
      ReleasedVolumes volumes = new ReleasedVolumes(client, driver, name, info);
      Capacities capacities = new Capacities(client, driver, name, info.getAccessibleTopology());
      System.out.println("provisioning for " + name + " on " + node);
      while (true) {
        try {
          claims.provision();
          volumes.delete();
          if (arguments.isTrue("enable-capacity")) {
            capacities.publish();
          }
        } catch (KubernetesClientException | StatusRuntimeException e) {
          // as the real one: said, and tried again
          System.err.println(e);
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
  }

  /** What the probes of the pod ask for. */
  private static void serveMetrics(String address) throws IOException {
    int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
    server.createContext(
        "/metrics",
        exchange -> {
          byte[] text = "# stand-in\n".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, text.length);
          exchange.getResponseBody().write(text);
          exchange.close();
        });
    server.start();
  }

  static long capacity(DriverClient driver, GetCapacityRequest request) {
    return driver.controller().getCapacity(request).getAvailableCapacity();
  }
}
