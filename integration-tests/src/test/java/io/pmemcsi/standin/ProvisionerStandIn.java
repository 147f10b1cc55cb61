package io.pmemcsi.standin;

import com.sun.net.httpserver.HttpServer;
import csi.v1.GetCapacityRequest;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Stand-in for external-provisioner, on every node ({@code --node-deployment}) or once for all of
 * them: provisions claims, deletes released volumes, and on a node publishes its capacity. It polls
 * where the real one watches. Once for all nodes it leaves out immediate binding.
 */
final class ProvisionerStandIn {

  private static final long POLL_MILLIS = 500;

  private ProvisionerStandIn() {}

  public static void main(String... flags) throws IOException, InterruptedException {
    Arguments arguments = Arguments.parse(flags);
    serveMetrics(arguments.get("metrics-address"));
    DriverClient driver = new DriverClient(arguments.get("csi-address"));
    String name = driver.name();
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      Nodes nodes =
          arguments.isTrue("node-deployment")
              ? new Nodes.Own(ownNode(), driver.node().getAccessibleTopology())
              : new Nodes.All(client, name);
      Claims claims = new Claims(client, driver, name, nodes, arguments.get("default-fstype"));
      ReleasedVolumes volumes = new ReleasedVolumes(client, driver, name, nodes);
      Optional<Capacities> capacities =
          arguments.isTrue("enable-capacity") && nodes instanceof Nodes.Own own
              ? Optional.of(Capacities.of(client, driver, name, own.topology()))
              : Optional.empty();
      System.out.println("provisioning for " + name + " on " + nodes);
      while (true) {
        try {
          claims.provision();
          volumes.delete();
          capacities.ifPresent(Capacities::publish);
        } catch (KubernetesClientException | StatusRuntimeException e) {
          // as the real one: said, and tried again
          System.err.println(e);
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
  }

  private static String ownNode() {
    String node = System.getenv("NODE_NAME");
    if (node == null) {
      throw new IllegalArgumentException("the variable NODE_NAME is missing");
    }
    return node;
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
