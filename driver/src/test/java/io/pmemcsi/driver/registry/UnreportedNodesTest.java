package io.pmemcsi.driver.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pmemcsi.driver.state.DurableFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnreportedNodesTest {

  @TempDir Path state;

  private VolumeLocations open() {
    return VolumeLocations.open(state, new DurableFiles());
  }

  private static UnreportedNodes unreported(NodeInventory inventory, VolumeLocations locations) {
    return new UnreportedNodes(
        inventory, locations, StartUp.begin(Clock.systemUTC(), Duration.ZERO, locations));
  }

  @Test
  void nodesThatHaveNotListedTheirVolumesAreUnreported() {
    VolumeLocations locations = open();
    UnreportedNodes unreported = unreported(() -> Set.of("node-2", "node-1"), locations);
    assertThat(unreported.names()).containsExactly("node-1", "node-2");

    locations.listing("node-1").finish(Map.of());

    assertThat(unreported.names()).containsExactly("node-2");
  }

  @Test
  void aNodeThatMayHaveAVolumeIsUnreportedAfterARestart() {
    open().creating("node-1", "vol-1");

    VolumeLocations next = open();

    assertThat(next.holders("vol-1")).containsExactly("node-1");
    assertThat(unreported(() -> Set.of("node-1"), next).names()).containsExactly("node-1");
    next.listing("node-1").finish(Map.of());
    assertThat(unreported(() -> Set.of("node-1"), open()).names()).isEmpty();
  }

  @Test
  void theClusterIsNotAskedAgainWhenAllNodesHaveReported() {
    VolumeLocations locations = open();
    AtomicInteger calls = new AtomicInteger();
    UnreportedNodes unreported =
        unreported(
            () -> {
              calls.incrementAndGet();
              return Set.of("node-1");
            },
            locations);
    assertThat(unreported.names()).containsExactly("node-1");
    locations.listing("node-1").finish(Map.of());

    assertThat(unreported.names()).isEmpty();
    assertThat(unreported.names()).isEmpty();

    assertThat(calls).hasValue(2);
  }

  @Test
  void aDeletedNodeIsGivenUpOnlyIfItNeverReported() {
    VolumeLocations locations = open();
    locations.creating("deleted", "vol-1");
    locations.creating("away", "vol-1");
    locations.listing("reported").finish(Map.of());
    locations.creating("reported", "vol-1");

    unreported(() -> Set.of("away"), locations).giveUpDeleted(locations.holders("vol-1"));

    assertThat(locations.holders("vol-1")).containsExactly("away", "reported");
    assertThat(open().nodes()).containsExactlyInAnyOrder("away", "reported");
  }

  /** kubelet removes the driver from the CSINode when the pod of the driver stops. */
  @Test
  void aNodeWithoutTheDriverIsNotGivenUpBeforeItIsDeleted() {
    VolumeLocations locations = open();
    locations.creating("node-1", "vol-1");
    AtomicReference<Set<String>> deleted = new AtomicReference<>(Set.of());
    UnreportedNodes unreported =
        unreported(
            new NodeInventory() {
              @Override
              public Set<String> nodes() {
                return Set.of();
              }

              @Override
              public Set<String> deleted(Collection<String> candidates) {
                return deleted.get();
              }
            },
            locations);

    unreported.giveUpDeleted(List.of("node-1"));
    assertThat(locations.holders("vol-1")).containsExactly("node-1");

    deleted.set(Set.of("node-1"));
    unreported.giveUpDeleted(List.of("node-1"));
    assertThat(locations.holders("vol-1")).isEmpty();
  }

  /** What the cluster listed some seconds ago may lack a node that has joined since. */
  @Test
  void aNodeIsGivenUpByACurrentListOnly() {
    VolumeLocations locations = open();
    AtomicReference<Set<String>> inventory = new AtomicReference<>(Set.of("node-1"));
    UnreportedNodes unreported = unreported(inventory::get, locations);
    assertThat(unreported.names()).containsExactly("node-1");
    locations.creating("node-2", "vol-1");
    inventory.set(Set.of("node-1", "node-2"));

    unreported.giveUpDeleted(List.of("node-2"));

    assertThat(locations.holders("vol-1")).containsExactly("node-2");
  }

  @Test
  void noNodeIsGivenUpWhileTheClusterDoesNotAnswer() {
    VolumeLocations locations = open();
    locations.creating("node-1", "vol-1");
    UnreportedNodes unreported =
        unreported(
            () -> {
              throw new IOException("no route");
            },
            locations);

    assertThatExceptionOfType(RegistryException.Unavailable.class)
        .isThrownBy(() -> unreported.giveUpDeleted(List.of("node-1")));
    assertThat(locations.holders("vol-1")).containsExactly("node-1");
  }

  @Test
  void aClusterThatDoesNotAnswerIsAFailureThatMayPass() {
    UnreportedNodes unreported =
        unreported(
            () -> {
              throw new IOException("no route");
            },
            open());

    assertThatExceptionOfType(RegistryException.Unavailable.class)
        .isThrownBy(unreported::names)
        .withMessage("the nodes with the driver cannot be listed: no route");
  }
}
