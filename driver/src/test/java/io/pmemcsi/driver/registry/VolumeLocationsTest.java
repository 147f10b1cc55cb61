package io.pmemcsi.driver.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pmemcsi.driver.registry.VolumeLocations.Listing;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VolumeLocationsTest {

  @TempDir Path state;

  private VolumeLocations open() {
    return VolumeLocations.open(state, new DurableFiles());
  }

  private static void list(VolumeLocations locations, String node, Map<String, Long> volumes) {
    locations.listing(node).finish(volumes);
  }

  @Test
  void volumesReportedByNodesAreKnownAfterARestart() {
    list(open(), "node-1", Map.of("vol-1", 10L));
    list(open(), "node-2", Map.of());

    VolumeLocations next = open();

    assertThat(next.nodes()).containsExactlyInAnyOrder("node-1", "node-2");
    assertThat(next.holders("vol-1")).containsExactly("node-1");
    assertThat(next.isReported("node-1", "vol-1")).isTrue();
    assertThat(next.volumes("node-1")).isEqualTo(Map.of("vol-1", 10L));
  }

  @Test
  void aPendingCreationIsKnownAfterARestart() {
    open().creating("node-1", "vol-1");

    VolumeLocations next = open();

    assertThat(next.holders("vol-1")).containsExactly("node-1");
    assertThat(next.isReported("node-1", "vol-1")).isFalse();
  }

  @Test
  void aCreatedVolumeIsBoundToItsNodeAfterACrash() {
    VolumeLocations locations = open();
    locations.creating("node-1", "vol-1");
    locations.created("node-1", "vol-1", 10);
    assertThat(locations.volumes("node-1")).isEqualTo(Map.of("vol-1", 10L));

    assertThat(open().holders("vol-1")).containsExactly("node-1");
  }

  @Test
  void aCreatedVolumeIsOnDiskWithTheNextWriteOrTheEnd() {
    VolumeLocations locations = open();
    locations.creating("node-1", "vol-1");
    locations.created("node-1", "vol-1", 10);
    locations.creating("node-1", "vol-2");
    assertThat(open().volumes("node-1")).isEqualTo(Map.of("vol-1", 10L));

    locations.created("node-1", "vol-2", 20);
    locations.flush();
    assertThat(open().volumes("node-1")).isEqualTo(Map.of("vol-1", 10L, "vol-2", 20L));
  }

  @Test
  void aVolumeListDoesNotEndAPendingCreation() {
    VolumeLocations locations = open();
    locations.creating("node-1", "vol-1");

    list(locations, "node-1", Map.of());

    assertThat(locations.holders("vol-1")).containsExactly("node-1");
  }

  @Test
  void aNewVolumeListReplacesTheOldOne() {
    VolumeLocations locations = open();
    list(locations, "node-1", Map.of("old", 1L, "kept", 1L));

    list(locations, "node-1", Map.of("kept", 2L, "new", 1L));

    assertThat(locations.volumes("node-1")).isEqualTo(Map.of("kept", 2L, "new", 1L));
    assertThat(open().volumes("node-1")).isEqualTo(Map.of("kept", 2L, "new", 1L));
  }

  @Test
  void changesDuringAListCallOverrideTheList() {
    VolumeLocations locations = open();
    list(locations, "node-1", Map.of("deleted", 1L));
    Listing listing = locations.listing("node-1");

    locations.creating("node-1", "created");
    locations.created("node-1", "created", 5);
    locations.absent("node-1", "deleted");
    listing.finish(Map.of("deleted", 1L));

    assertThat(locations.volumes("node-1")).isEqualTo(Map.of("created", 5L));
  }

  @Test
  void changesOnAnotherNodeDoNotOverrideTheList() {
    VolumeLocations locations = open();
    Listing listing = locations.listing("node-1");

    locations.created("node-2", "vol-1", 5);
    listing.finish(Map.of("vol-1", 1L));

    assertThat(locations.holders("vol-1")).containsExactly("node-1", "node-2");
  }

  @Test
  void aDeletedVolumeIsNotFoundAfterARestart() {
    VolumeLocations locations = open();
    list(locations, "node-1", Map.of("vol-1", 1L));

    locations.absent("node-1", "vol-1");

    assertThat(open().holders("vol-1")).isEmpty();
  }

  @Test
  void anUnregisteredNodeIsRemovedOnlyIfItHasNoVolumes() {
    VolumeLocations locations = open();
    list(locations, "empty", Map.of());
    list(locations, "full", Map.of("vol-1", 1L));
    locations.creating("busy", "vol-2");

    locations.leave("empty");
    locations.leave("full");
    locations.leave("busy");
    locations.leave("unknown");

    assertThat(locations.nodes()).containsExactlyInAnyOrder("full", "busy");
    assertThat(open().nodes()).containsExactlyInAnyOrder("full", "busy");
  }

  @Test
  void whatANodeReportsCountsAlthoughItWasGivenUp() {
    VolumeLocations locations = open();
    locations.creating("node-1", "vol-1");
    Listing listing = locations.listing("node-1");

    assertThat(locations.giveUp("node-1")).isTrue();
    listing.finish(Map.of("vol-1", 1L));

    assertThat(locations.giveUp("node-1")).isFalse();
    assertThat(open().volumes("node-1")).isEqualTo(Map.of("vol-1", 1L));
  }

  @Test
  void aDamagedRecordIsNeitherIgnoredNorReplaced() throws IOException {
    open();
    Path damaged = Files.writeString(state.resolve("nodes/node-1.json"), "{");

    assertThatExceptionOfType(StateException.class)
        .isThrownBy(this::open)
        .withMessageContaining(damaged.toString());
    assertThat(damaged).hasContent("{");
  }

  @Test
  void aCreationThatCannotBeRecordedIsNotKnown() throws IOException {
    VolumeLocations locations = open();
    Files.delete(state.resolve("nodes"));

    assertThatExceptionOfType(StateException.class)
        .isThrownBy(() -> locations.creating("node-1", "vol-1"));
    assertThat(locations.holders("vol-1")).isEmpty();
  }
}
