package io.pmemcsi.controller.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.controller.volume.NeededVolume;
import io.pmemcsi.controller.volume.VolumeClass;
import io.pmemcsi.controller.volume.VolumeClasses;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With answers of API servers that cannot run here. */
class WatchedCapacityTest {

  private static final String LIST =
      "/apis/storage.k8s.io/%s/namespaces/pmem-csi/csistoragecapacities";
  private static final String OBJECT =
      """
      {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
       "metadata": {"name": "%s", "namespace": "pmem-csi", "resourceVersion": "1"},
       "nodeTopology": {"matchLabels": {"pmem-csi.intel.com/node": "%s"}},
       "storageClassName": "pmem", "capacity": "%s"%s}\
      """;

  /** Status and body by path. */
  private final Map<String, Map.Entry<Integer, String>> answers = new ConcurrentHashMap<>();

  private final CountDownLatch end = new CountDownLatch(1);
  private final NodeCapacities capacities = new NodeCapacities();
  private HttpServer server;
  private KubernetesClient client;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::handle);
    server.start();
    client =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder(Config.empty())
                    .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                    .withRequestRetryBackoffLimit(0)
                    .build())
            .build();
  }

  @AfterEach
  void stop() {
    end.countDown();
    client.close();
    server.stop(0);
  }

  @Test
  void theNewestVersionThatIsServedIsTaken() {
    assertThat(WatchedCapacity.servedVersion(client, "pmem-csi")).isEmpty();
    serve("v1beta1", "csistoragecapacities");
    assertThat(WatchedCapacity.servedVersion(client, "pmem-csi")).contains("v1beta1");
    serve("v1", "storageclasses");
    assertThat(WatchedCapacity.servedVersion(client, "pmem-csi")).contains("v1beta1");
    serve("v1", "csistoragecapacities");
    assertThat(WatchedCapacity.servedVersion(client, "pmem-csi")).contains("v1");
  }

  /** The operator grants no permission for the alpha version if provisioners do not publish it. */
  @Test
  void theAlphaVersionNeedsThePermissionToRead() {
    serve("v1alpha1", "csistoragecapacities");
    answers.put(LIST.formatted("v1alpha1"), Map.entry(403, status(403)));
    assertThat(WatchedCapacity.servedVersion(client, "pmem-csi")).isEmpty();

    list("v1alpha1", "");
    assertThat(WatchedCapacity.servedVersion(client, "pmem-csi")).contains("v1alpha1");
  }

  @Test
  void theLargestVolumeIsTakenFromTheObjectAndBadQuantitiesAreIgnored() {
    list(
        "v1",
        String.join(
            ",",
            OBJECT.formatted("n1", "n1", "100", ", \"maximumVolumeSize\": \"60\""),
            OBJECT.formatted("n2", "n2", "much", "")));

    try (WatchedCapacity source = watch()) {
      await().until(() -> source.notReady().isEmpty());
      await()
          .untilAsserted(
              () ->
                  assertThat(filter(source, 70, Instant.now()))
                      .containsEntry("n1", "only 60B of PMEM available in one piece, need 70B")
                      .containsEntry("n2", "only 0B of PMEM available, need 70B"));
    }
  }

  private WatchedCapacity watch() {
    return WatchedCapacity.start(
        client,
        "v1",
        "pmem-csi",
        new DriverName("pmem-csi.intel.com"),
        new VolumeClasses() {
          @Override
          public Optional<VolumeClass> volumeClass(String name) {
            return Optional.of(new VolumeClass("pmem-csi.intel.com", true, ""));
          }

          @Override
          public void onClassChange(Consumer<String> listener) {
            // there is no change
          }
        },
        capacities,
        Clock.systemUTC());
  }

  private Map<String, String> filter(WatchedCapacity source, long bytes, Instant now) {
    Map<String, String> refused =
        capacities
            .filter(
                "pod",
                List.of(new NeededVolume("default/a", bytes)),
                List.of("n1", "n2"),
                source,
                now)
            .refused();
    capacities.release("pod");
    return refused;
  }

  private void serve(String version, String resource) {
    answers.put(
        "/apis/storage.k8s.io/" + version,
        Map.entry(
            200,
            """
            {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "storage.k8s.io/%s",
             "resources": [{"name": "%s", "singularName": "", "namespaced": true, "kind": "X",
                            "verbs": ["list"]}]}
            """
                .formatted(version, resource)));
  }

  private void list(String version, String items) {
    answers.put(
        LIST.formatted(version),
        Map.entry(
            200,
            """
            {"kind": "CSIStorageCapacityList", "apiVersion": "storage.k8s.io/%s",
             "metadata": {"resourceVersion": "1"}, "items": [%s]}
            """
                .formatted(version, items)));
  }

  private static String status(int code) {
    return """
    {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d}
    """
        .formatted(code);
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String query = String.valueOf(exchange.getRequestURI().getQuery());
      var answer =
          answers.getOrDefault(exchange.getRequestURI().getPath(), Map.entry(404, status(404)));
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      if (query.contains("watch=true")) {
        end.await();
      } else {
        byte[] body = answer.getValue().getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(answer.getKey(), body.length);
        exchange.getResponseBody().write(body);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
