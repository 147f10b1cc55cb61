package io.pmemcsi.controller;

import static io.pmemcsi.controller.SchedulingWorld.GIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.storage.StorageClassBuilder;
import io.pmemcsi.controller.capacity.ScrapedCapacity;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the whole program reports on its port for metrics and health. */
class ControllerProgramIT {

  private static final String SELECTED = "volume.kubernetes.io/selected-node";

  @TempDir Path certificates;
  private SchedulingWorld world;

  @BeforeEach
  void create() {
    world = new SchedulingWorld(certificates);
  }

  @AfterEach
  void close() {
    world.close();
  }

  @Test
  void theControllerIsNotReadyBeforeTheCapacityOfAllNodesIsKnown() throws IOException {
    try (var silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      world.driverPod("answers", 10 * GIB, 10 * GIB);
      world.driverPod("silent", silent.getLocalPort());
      world.start(
          world.clientWithoutCapacities(),
          world.settings(0),
          new ControllerProgram.Timing(
              new ScrapedCapacity.Timing(Duration.ofHours(1), Duration.ofMinutes(10)),
              Duration.ofSeconds(1),
              Duration.ZERO));

      await()
          .untilAsserted(
              () ->
                  assertThat(world.get("/readyz").body())
                      .contains("the metrics of 1 node drivers are not read yet"));
      assertThat(world.get("/readyz").statusCode()).isEqualTo(503);
      assertThat(world.get("/healthz").statusCode()).isEqualTo(200);
      world.client.pods().withName("silent").withGracePeriod(0).delete();
      await().until(() -> world.get("/readyz").statusCode() == 200);
      await().until(() -> world.metric("scheduler_capacity_age_seconds") > 1);
    }
  }

  /** The last step, which may be over before the others: then it is tried again. */
  @Test
  void theControllerIsNotReadyBeforeTlsIsWarm() {
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 20 && !seen.contains("TLS is not warm yet"); i++) {
      try (var program =
          ControllerProgram.start(world.client, world.settings(0), SchedulingWorld.quick())) {
        await()
            .pollDelay(Duration.ZERO)
            .pollInterval(Duration.ofMillis(1))
            .until(
                () -> {
                  Optional<String> problem = program.notReady();
                  problem.ifPresent(seen::add);
                  return problem.isEmpty();
                });
      }
    }

    assertThat(seen).contains("TLS is not warm yet");
  }

  @Test
  void metricsCountReservedVolumesAndRescheduledClaims() {
    world.nodes(1, 10 * GIB);
    ControllerSettings settings = world.settings(0);
    world.start(
        world.client,
        new ControllerSettings(
            settings.driver(),
            settings.namespace(),
            settings.identity(),
            Map.of("scheduling", world.className),
            settings.schedulerListen(),
            settings.insecureSchedulerListen(),
            settings.certificate(),
            settings.metricsListen(),
            settings.metricsPath()),
        SchedulingWorld.quick());
    await().until(() -> world.get("/readyz").statusCode() == 200);
    assertThat(world.metric("scheduler_reserved_volumes")).isZero();
    assertThat(world.metric("scheduler_rescheduled_claims_total")).isZero();
    assertThat(world.metric("scheduler_capacity_age_seconds")).as("changes are watched").isZero();

    waiting("on-its-way", world.nodes.names().getFirst());
    waiting("stuck", "no-such-node");

    await().until(() -> world.metric("scheduler_rescheduled_claims_total") == 1);
    await().until(() -> world.metric("scheduler_reserved_volumes") == 1);
  }

  /** A claim of a class for which nothing creates volumes. */
  private void waiting(String name, String node) {
    String slow = world.className + "-" + name;
    world.sandbox.create(
        new StorageClassBuilder()
            .withNewMetadata()
            .withName(slow)
            .endMetadata()
            .withProvisioner(world.driver.value())
            .withVolumeBindingMode("WaitForFirstConsumer")
            .build());
    PersistentVolumeClaim claim = world.claim(name, GIB);
    claim.getSpec().setStorageClassName(slow);
    claim.getMetadata().setAnnotations(Map.of(SELECTED, node));
    world.client.resource(claim).create();
  }
}
