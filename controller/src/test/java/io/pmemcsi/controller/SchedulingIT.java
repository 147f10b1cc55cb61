package io.pmemcsi.controller;

import static io.pmemcsi.controller.SchedulingWorld.GIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real scheduler with the extender, the real API server with the webhook. */
class SchedulingIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);

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
  void podsGetNodesWithCapacityAndTheEventSaysWhatIsMissing() {
    start(2, 4 * GIB);
    world.client.resource(world.claim("small", 3 * GIB)).create();
    world.client.resource(world.pod("small", "small")).create();
    world.client.resource(world.claim("huge", 400 * GIB)).create();
    world.client.resource(world.pod("huge", "huge")).create();

    await().atMost(LIMIT).until(() -> world.placed() == 1);
    Pod small = world.client.pods().withName("small").get();
    assertThat(small.getSpec().getContainers().getFirst().getResources().getLimits())
        .containsEntry(world.driver + "/scheduler", new Quantity("1"));
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(world.client.v1().events().list().getItems())
                    .filteredOn(event -> "huge".equals(event.getInvolvedObject().getName()))
                    .extracting(Event::getMessage)
                    .anySatisfy(
                        message -> assertThat(message).contains("of PMEM available, need 400GiB")));
    assertThat(world.provisioner.refused()).isZero();
  }

  @Test
  void aPodWithSeveralVolumesGetsANodeOnWhichTheyFitTogether() {
    start(3, 10 * GIB);
    world.client.resource(world.claim("a", 4 * GIB)).create();
    world.client.resource(world.claim("b", 5 * GIB)).create();
    world.client.resource(world.pod("first", "a", "b")).create();
    world.client.resource(withInline(world.pod("inline"), "8Gi")).create();

    await().atMost(LIMIT).until(() -> world.placed() == 2);

    assertThat(world.client.pods().withName("first").get().getSpec().getNodeName())
        .isNotEqualTo(world.client.pods().withName("inline").get().getSpec().getNodeName());
    // three nodes have 1, 2 and 10 GiB left
    world.client.resource(world.claim("c", 3 * GIB)).create();
    world.client.resource(world.pod("third", "c")).create();
    await().atMost(LIMIT).until(() -> world.placed() == 3);
    assertThat(world.podsByNode().values()).containsOnly(1L);
  }

  @Test
  void genericEphemeralVolumesAreCounted() {
    start(2, 4 * GIB);

    for (int i = 0; i < 3; i++) {
      world.client.resource(withGeneric(world.pod("scratch-" + i), 3 * GIB)).create();
    }

    await().atMost(LIMIT).until(() -> world.placed() == 2 && world.provisioner.created() == 2);
    awaitEvent("of PMEM available, need 3GiB");
    assertThat(world.podsByNode().values()).containsOnly(1L);
    assertThat(world.provisioner.refused()).isZero();
  }

  @Test
  void ofTwoNodesWithCapacityTheOneWithMoreLeftIsPreferred() {
    world.nodesWith(40 * GIB, 100 * GIB).controller(0);
    world.markPods = true;
    world.scheduler(world.port());

    for (int i = 1; i <= 6; i++) {
      int pods = i;
      world.burst("pod-" + i, 1, GIB);
      await().atMost(LIMIT).until(() -> world.placed() == pods);
    }

    assertThat(world.podsByNode()).isEqualTo(Map.of(world.nodes.names().getLast(), 6L));
  }

  /** In device mode direct a volume needs one extent. */
  @Test
  void capacityFromMetricsWithASmallLargestExtent() throws IOException {
    world.nodesWith(10 * GIB, 4 * GIB);
    String fragmented = world.nodes.names().getFirst();
    String whole = world.nodes.names().getLast();
    world.driverPod(fragmented, 10 * GIB, 2 * GIB);
    world.driverPod(whole, 4 * GIB, 4 * GIB);
    world.start(world.clientWithoutCapacities(), world.settings(0), SchedulingWorld.quick());
    await().until(() -> world.controller.notReady().isEmpty());
    world.markPods = true;
    world.scheduler(world.port());

    world.burst("three", 1, 3 * GIB);
    world.burst("eight", 1, 8 * GIB);

    await().atMost(LIMIT).until(() -> whole.equals(nodeOf("three-0")));
    awaitEvent("only 2GiB of PMEM available in one piece, need 8GiB");
    world.burst("one", 1, GIB);
    await().atMost(LIMIT).until(() -> fragmented.equals(nodeOf("one-0")));
    assertThat(world.provisioner.refused()).isZero();
  }

  private @Nullable String nodeOf(String pod) {
    return world.client.pods().withName(pod).get().getSpec().getNodeName();
  }

  private void awaitEvent(String text) {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(world.client.v1().events().list().getItems())
                    .extracting(Event::getMessage)
                    .anySatisfy(message -> assertThat(message).contains(text)));
  }

  @Test
  void theExactFitPlacesEveryPodAndNoVolumeIsRefused() {
    start(10, 20 * GIB);

    world.burst("fit", 200, GIB);

    await().atMost(LIMIT).until(() -> world.placed() == 200);
    assertThat(world.provisioner.refused()).isZero();
    assertThat(world.podsByNode().values()).containsOnly(20L);
    assertThat(world.provisioner.free().values()).containsOnly(0L);
  }

  private void start(int nodes, long bytes) {
    world.nodes(nodes, bytes).controller(0);
    world.webhook(world.port(), "Fail").scheduler(world.port());
    // the API server takes a moment to know a new webhook
    await()
        .atMost(LIMIT)
        .until(
            () -> {
              Pod probe = withInline(world.pod("probe"), "1Gi");
              Pod created = world.client.resource(probe).dryRun().create();
              Map<String, Quantity> limits =
                  created.getSpec().getContainers().getFirst().getResources().getLimits();
              return limits != null && limits.containsKey(world.driver + "/scheduler");
            });
  }

  private Pod withGeneric(Pod pod, long bytes) {
    return pod.edit()
        .editSpec()
        .addNewVolume()
        .withName("generic")
        .withNewEphemeral()
        .withNewVolumeClaimTemplate()
        .withSpec(world.claim("", bytes).getSpec())
        .endVolumeClaimTemplate()
        .endEphemeral()
        .endVolume()
        .endSpec()
        .build();
  }

  private Pod withInline(Pod pod, String size) {
    return pod.edit()
        .editSpec()
        .addNewVolume()
        .withName("inline")
        .withNewCsi()
        .withDriver(world.driver.value())
        .withVolumeAttributes(Map.of("size", size))
        .endCsi()
        .endVolume()
        .endSpec()
        .build();
  }
}
