package io.pmemcsi.controller;

import static io.pmemcsi.controller.SchedulingWorld.GIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.storage.CSINodeBuilder;
import io.pmemcsi.controller.cluster.ClusterCache;
import io.pmemcsi.controller.rescheduler.DriverNodes;
import io.pmemcsi.controller.rescheduler.ElectedRescheduler;
import io.pmemcsi.controller.rescheduler.Rescheduler;
import io.pmemcsi.testbed.kubernetes.FakeNodes;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReschedulerIT {

  private static final String SELECTED = "volume.kubernetes.io/selected-node";
  private static final Map<String, String> SELECTOR = Map.of("storage", "pmem");

  @TempDir Path certificates;
  private final AtomicInteger rescheduled = new AtomicInteger();
  private SchedulingWorld world;
  private FakeNodes withLabels;
  private FakeNodes without;

  @BeforeEach
  void create() {
    world = new SchedulingWorld(certificates);
    withLabels = FakeNodes.create(TestCluster.get(), 2, SELECTOR);
    without = FakeNodes.create(TestCluster.get(), 2, Map.of());
    listDriver(withLabels.names().getFirst());
    listDriver(without.names().getFirst());
  }

  @AfterEach
  void close() {
    withLabels.close();
    without.close();
    world.close();
  }

  /** The truth table on real objects, and two replicas of which one acts. */
  @Test
  void onlyAClaimOnANodeWithNeitherDriverNorLabelsIsRescheduledOnce() {
    stuck("listed-and-labelled", withLabels.names().getFirst());
    stuck("labelled-only", withLabels.names().getLast());
    stuck("listed-only", without.names().getFirst());
    stuck("neither", without.names().getLast());
    stuck("deleted-node", "no-such-node");
    stuckOfAnotherDriver("other", without.names().getLast());

    try (ClusterCache cache = cache();
        ElectedRescheduler _ = replica("a", cache);
        ElectedRescheduler _ = replica("b", cache)) {
      await().until(() -> node("neither").isEmpty() && node("deleted-node").isEmpty());
      await().until(() -> rescheduled.get() == 2);
    }

    assertThat(node("listed-and-labelled")).isPresent();
    assertThat(node("labelled-only")).isPresent();
    assertThat(node("listed-only")).isPresent();
    assertThat(node("other")).isPresent();
    assertThat(world.client.v1().events().list().getItems())
        .filteredOn(event -> "neither".equals(event.getInvolvedObject().getName()))
        .extracting(Event::getReason, Event::getMessage)
        .filteredOn(event -> event.toString().contains("reschedule"))
        .singleElement()
        .hasToString(
            "(\"ProvisioningFailed\", \"reschedule PVC %s/neither because it is assigned to node %s which has no PMEM-CSI driver\")"
                .formatted(world.sandbox.namespace(), without.names().getLast()));
  }

  private ElectedRescheduler replica(String identity, ClusterCache cache) {
    return ElectedRescheduler.start(
        world.client,
        world.sandbox.namespace(),
        "rescheduler",
        identity,
        new Rescheduler(
            world.client,
            cache,
            () -> List.of(new DriverNodes(world.driver, SELECTOR)),
            rescheduled::incrementAndGet,
            Clock.systemUTC()));
  }

  private ClusterCache cache() {
    ClusterCache cache = ClusterCache.start(world.client);
    await().until(() -> cache.notReady().isEmpty());
    return cache;
  }

  private void stuck(String name, String node) {
    PersistentVolumeClaim claim = world.claim(name, GIB);
    claim.getMetadata().setAnnotations(Map.of(SELECTED, node));
    world.client.resource(claim).create();
  }

  private void stuckOfAnotherDriver(String name, String node) {
    PersistentVolumeClaim claim = world.claim(name, GIB);
    claim.getMetadata().setAnnotations(Map.of(SELECTED, node));
    claim.getSpec().setStorageClassName("some-other-class");
    world.client.resource(claim).create();
  }

  private Optional<String> node(String claim) {
    return Optional.ofNullable(
            world
                .client
                .persistentVolumeClaims()
                .withName(claim)
                .get()
                .getMetadata()
                .getAnnotations())
        .map(annotations -> annotations.get(SELECTED));
  }

  private void listDriver(String node) {
    var owner = world.client.nodes().withName(node).get();
    world
        .client
        .resource(
            new CSINodeBuilder()
                .withNewMetadata()
                .withName(node)
                .addNewOwnerReference()
                .withApiVersion("v1")
                .withKind("Node")
                .withName(node)
                .withUid(owner.getMetadata().getUid())
                .endOwnerReference()
                .endMetadata()
                .withNewSpec()
                .addNewDriver()
                .withName(world.driver.value())
                .withNodeID(node)
                .endDriver()
                .endSpec()
                .build())
        .create();
  }
}
