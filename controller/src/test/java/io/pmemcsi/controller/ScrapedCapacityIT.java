package io.pmemcsi.controller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.pmemcsi.controller.capacity.NodeCapacities;
import io.pmemcsi.controller.capacity.ScrapedCapacity;
import io.pmemcsi.controller.volume.NeededVolume;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Endpoints that hang, lie or vanish, found through real pod objects. */
class ScrapedCapacityIT {

  @TempDir Path certificates;
  private final CountDownLatch end = new CountDownLatch(1);
  private final NodeCapacities capacities = new NodeCapacities();
  private SchedulingWorld world;
  private HttpServer good;
  private final AtomicInteger requests = new AtomicInteger();
  private final CountDownLatch hangs = new CountDownLatch(1);
  private volatile long available = 100;

  /** What the good endpoint waits for before it answers. */
  private volatile CountDownLatch gate = new CountDownLatch(0);

  @BeforeEach
  void create() throws IOException {
    world = new SchedulingWorld(certificates);
    good = serve("pmem_amount_max_volume_size{driver_name=\"%s\"} %d\n");
  }

  @AfterEach
  void close() {
    end.countDown();
    good.stop(0);
    world.close();
  }

  @Test
  void oneBadEndpointMakesOnlyItsOwnNodeUnknown() throws IOException {
    HttpServer lying = serve("pmem_amount_max_volume_size{driver_name=\"%s\"} NaN %d\n");
    HttpServer hanging = hang();
    world.driverPod("good", good.getAddress().getPort());
    world.driverPod("lying", lying.getAddress().getPort());
    world.driverPod("hanging", hanging.getAddress().getPort());
    HttpServer vanishing = serve("pmem_amount_max_volume_size{driver_name=\"%s\"} %d\n");
    world.driverPod("vanishing", vanishing.getAddress().getPort());

    try (ScrapedCapacity source = start(Duration.ofMillis(300), Duration.ofMillis(200))) {
      await().until(() -> source.notReady().isEmpty());
      await().untilAsserted(() -> assertThat(passed(source)).containsExactly("good", "vanishing"));
      vanishing.stop(0);
      available = 5;
      await().untilAsserted(() -> assertThat(passed(source)).containsExactly("vanishing"));

      // old data is refused with its age; a deleted pod takes its capacity along
      assertThat(
              capacities
                  .filter(
                      "late",
                      need("late"),
                      List.of("vanishing"),
                      source,
                      Instant.now().plusSeconds(200))
                  .refused()
                  .get("vanishing"))
          .contains("old", "does the metrics endpoint of the driver on this node answer?");
      world.client.pods().withName("vanishing").withGracePeriod(0).delete();
      await().untilAsserted(() -> assertThat(passed(source)).isEmpty());
    } finally {
      lying.stop(0);
      hanging.stop(0);
    }
  }

  /** Otherwise one node that joins would take all replicas out of service. */
  @Test
  void anEndpointThatIsAddedLaterDoesNotEndReadiness() throws IOException {
    HttpServer hanging = hang();
    world.driverPod("good", good.getAddress().getPort());
    try (ScrapedCapacity source = start(Duration.ofMillis(100), Duration.ofMinutes(5))) {
      await().until(() -> source.notReady().isEmpty());
      int before = requests.get();
      await().until(() -> requests.get() > before + 2);

      world.driverPod("hanging", hanging.getAddress().getPort());
      await().until(() -> hangs.getCount() == 0);

      assertThat(source.notReady()).isEmpty();
    } finally {
      hanging.stop(0);
    }
  }

  @Test
  void aRefreshDuringAScrapeReadsTheEndpointAgain() {
    world.driverPod("good", good.getAddress().getPort());
    try (ScrapedCapacity source = start(Duration.ofHours(1), Duration.ofMinutes(5))) {
      await().until(() -> source.notReady().isEmpty());
      var answer = new CountDownLatch(1);
      gate = answer;
      int before = requests.get();
      source.refresh("good");
      await().until(() -> requests.get() > before);
      assertThat(passed(source)).containsExactly("good");
      available = 5;

      source.refresh("good");
      answer.countDown();

      await().untilAsserted(() -> assertThat(passed(source)).isEmpty());
    }
  }

  private ScrapedCapacity start(Duration period, Duration timeout) {
    return ScrapedCapacity.start(
        world.client,
        world.sandbox.namespace(),
        world.driver,
        capacities,
        new ScrapedCapacity.Timing(period, timeout),
        Clock.systemUTC());
  }

  private List<String> passed(ScrapedCapacity source) {
    List<String> passed =
        capacities
            .filter(
                "pod",
                need("pod"),
                List.of("good", "lying", "hanging", "vanishing"),
                source,
                Instant.now())
            .passed();
    capacities.release("pod");
    return passed;
  }

  private static List<NeededVolume> need(String pod) {
    return List.of(new NeededVolume("default/" + pod, 10));
  }

  private HttpServer serve(String format) throws IOException {
    HttpServer server = server();
    server.createContext(
        "/metrics",
        exchange -> {
          try (exchange) {
            byte[] body =
                format.formatted(world.driver, available).getBytes(StandardCharsets.UTF_8);
            requests.incrementAndGet();
            pass(gate);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
          }
        });
    server.start();
    return server;
  }

  /** Answers with headers and a first byte and nothing else. */
  private HttpServer hang() throws IOException {
    HttpServer server = server();
    server.createContext(
        "/metrics",
        exchange -> {
          exchange.sendResponseHeaders(200, 1000);
          exchange.getResponseBody().write('p');
          exchange.getResponseBody().flush();
          hangs.countDown();
          pass(end);
        });
    server.start();
    return server;
  }

  private static void pass(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static HttpServer server() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    return server;
  }
}
