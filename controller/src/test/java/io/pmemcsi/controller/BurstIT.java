package io.pmemcsi.controller;

import static io.pmemcsi.controller.SchedulingWorld.GIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.testbed.process.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many pods at once, and what may happen to the controller in the middle of them. */
class BurstIT {

  private static final boolean CAMPAIGN = Boolean.getBoolean("pmem-csi.campaign");
  private static final Duration LIMIT = Duration.ofMinutes(10);

  @TempDir Path certificates;
  private SchedulingWorld world;

  @BeforeEach
  void create() {
    world = new SchedulingWorld(certificates);
    world.markPods = true;
  }

  @AfterEach
  void close() {
    world.close();
  }

  @Test
  void aBurstOnHundredNodesPlacesEveryPodAndNoVolumeIsRefused() {
    int pods = CAMPAIGN ? 1000 : 200;
    world.nodes(100, 10 * GIB).controller(0);
    world.scheduler(world.port());

    world.burst("pod", pods, GIB);

    await().atMost(LIMIT).until(() -> world.placed() == pods);
    assertThat(world.provisioner.refused()).isZero();
    assertThat(world.podsByNode().values())
        .allSatisfy(count -> assertThat(count).isLessThanOrEqualTo(10L));
  }

  @Test
  void aCertificateThatIsReplacedDuringABurstDisturbsNothing() {
    world.nodes(10, 10 * GIB).controller(0);
    world.scheduler(world.port());

    for (int i = 0; i < 4; i++) {
      world.burst("pod-" + i, 20, GIB);
      world.certificate.replace();
    }

    await().atMost(LIMIT).until(() -> world.placed() == 80);
    assertThat(world.provisioner.refused()).isZero();
  }

  @Test
  void aControllerThatIsKilledDuringABurstFindsItsPromisesAgain() throws Exception {
    int port = freePort();
    int metrics = freePort();
    world.nodes(10, 8 * GIB);
    ChildProcess first = start(port, metrics);
    world.scheduler(port);
    world.burst("before", 40, GIB);
    await().atMost(LIMIT).until(() -> world.provisioner.created() > 5);

    first.close();
    world.burst("during", 20, GIB);
    try (ChildProcess _ = start(port, metrics)) {
      world.burst("after", 20, GIB);

      await().atMost(LIMIT).until(() -> world.placed() == 80);
    }
    assertThat(world.provisioner.refused()).isZero();
    assertThat(world.podsByNode().values()).containsOnly(8L);
  }

  private ChildProcess start(int port, int metrics) {
    ChildProcess process =
        ChildProcess.start(
            "controller",
            certificates.resolve("controller.log"),
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-Xmx152m",
                "-cp",
                System.getProperty("java.class.path"),
                ControllerMain.class.getName(),
                TestCluster.get().kubeconfig().toString(),
                world.driver.value(),
                world.sandbox.namespace(),
                Integer.toString(port),
                certificates.toString(),
                Integer.toString(metrics)));
    process.awaitReady(Duration.ofMinutes(2), () -> isReady(metrics));
    return process;
  }

  private static boolean isReady(int metrics) {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
              .send(
                  HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + metrics + "/readyz"))
                      .build(),
                  BodyHandlers.discarding())
              .statusCode()
          == 200;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
