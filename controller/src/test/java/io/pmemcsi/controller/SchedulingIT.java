package io.pmemcsi.controller;

import static io.pmemcsi.controller.SchedulingWorld.GIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
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
