package io.pmemcsi.controller;

import static io.pmemcsi.controller.SchedulingWorld.GIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.testbed.process.ChildProcess;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

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

  /**
   * The three situations of the capacity document of csi-driver-host-path: volumes with some space
   * left on few and on many nodes, and an exact fit. The second one is a tenth of its size, except
   * in a campaign.
   */
  @ParameterizedTest(name = "{0} nodes with {2} GiB, {1} pods")
  @MethodSource("situations")
  void everyPodIsPlacedAndNoVolumeIsRefused(int nodes, int pods, int gibibytesPerNode) {
    world.nodes(nodes, gibibytesPerNode * GIB).controller(0);
    world.scheduler(world.port());

    world.burst("pod", pods, GIB);

    await().atMost(LIMIT).until(() -> world.placed() == pods);
    assertThat(world.provisioner.refused()).isZero();
    assertThat(world.podsByNode().values())
        .allSatisfy(count -> assertThat(count).isLessThanOrEqualTo((long) gibibytesPerNode));
  }

  static Stream<Arguments> situations() {
    return Stream.of(
        Arguments.of(10, 1000, 109),
        Arguments.of(100, CAMPAIGN ? 10_000 : 1000, CAMPAIGN ? 109 : 12),
        Arguments.of(10, 200, 20));
  }

  private ChildProcess start(int port) throws IOException {
    return ControllerProcess.start(world, port, List.of("-XX:+UseSerialGC", "-Xmx152m"));
  }

  @Test
  void aCertificateThatIsReplacedDuringABurstDisturbsNothing() throws IOException {
    world.nodes(10, 10 * GIB).controller(0);
    try (var service = new ServiceProxy()) {
      service.add(world.port());
      world.scheduler(service.port());

      for (int i = 1; i <= 4; i++) {
        long pods = 20L * i;
        BigInteger before = servedSerial();
        world.burst("pod-" + i, 20, GIB);
        world.certificate.replace();
        await().until(() -> !servedSerial().equals(before));
        await().atMost(LIMIT).until(() -> world.placed() == pods);
        // the scheduler keeps its connection: only the next one shows it the new certificate
        service.cut();
      }
    }
    assertThat(world.provisioner.refused()).isZero();
  }

  private BigInteger servedSerial() throws IOException {
    try (SSLSocket socket =
        (SSLSocket)
            world.certificate.client().getSocketFactory().createSocket("127.0.0.1", world.port())) {
      socket.startHandshake();
      return ((X509Certificate) socket.getSession().getPeerCertificates()[0]).getSerialNumber();
    }
  }

  @Test
  void aControllerThatIsKilledDuringABurstFindsItsReservationsAgain() throws Exception {
    int port = ControllerProcess.freePort();
    world.nodes(10, 8 * GIB);
    world.foreignClaim(world.nodes.names().getFirst(), 8 * GIB);
    ChildProcess first = start(port);
    world.scheduler(port);
    world.burst("before", 40, GIB);
    await().atMost(LIMIT).until(() -> world.provisioner.created() > 5);

    first.close();
    world.burst("during", 20, GIB);
    try (ChildProcess _ = start(port)) {
      world.burst("after", 20, GIB);

      await().atMost(LIMIT).until(() -> world.placed() == 80);
    }
    assertThat(world.provisioner.refused()).isZero();
    assertThat(world.podsByNode().values()).containsOnly(8L);
  }
}
