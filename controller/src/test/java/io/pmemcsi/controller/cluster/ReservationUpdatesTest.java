package io.pmemcsi.controller.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.controller.capacity.NodeCapacities;
import io.pmemcsi.controller.volume.Claim;
import io.pmemcsi.controller.volume.PodVolumes;
import io.pmemcsi.controller.volume.VolumeClass;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ReservationUpdatesTest {

  private static final String DRIVER = "pmem-csi.intel.com";
  private static final Optional<VolumeClass> OWN = Optional.of(new VolumeClass(DRIVER, true, ""));
  private static final Optional<VolumeClass> OTHER =
      Optional.of(new VolumeClass("other.example.com", true, ""));
  private static final Claim WAITING = new Claim(false, "class", 100, "n1");
  private static final Claim BOUND = new Claim(true, "class", 100, "n1");

  private final NodeCapacities capacities = new NodeCapacities();
  private final List<String> refreshed = new ArrayList<>();
  private final ReservationUpdates updates =
      new ReservationUpdates(
          new DriverName(DRIVER),
          capacities,
          refreshed::add,
          Clock.fixed(Instant.EPOCH, ZoneOffset.UTC));

  @Test
  void aClaimWithSelectedNodeReservesCapacityUntilItsVolumeExists() {
    updates.changed("default/a", WAITING, OWN);
    assertThat(capacities.reservedVolumes()).isEqualTo(1);

    updates.changed("default/a", BOUND, OWN);
    assertThat(refreshed).containsExactly("n1");
  }

  @Test
  void aClaimReservesNothingBeforeItsClassIsKnown() {
    updates.changed("default/a", WAITING, Optional.empty());

    assertThat(capacities.reservedVolumes()).isZero();
  }

  /** A class can be deleted and created again with another provisioner. */
  @Test
  void aClaimOfAnotherDriverReservesNothing() {
    updates.changed("default/a", WAITING, OWN);
    updates.changed("default/a", WAITING, OTHER);

    assertThat(capacities.reservedVolumes()).isZero();
  }

  @Test
  void aVolumeForWhatIsNoNumaNodeReservesNothing() {
    updates.changed("default/a", WAITING, Optional.of(new VolumeClass(DRIVER, true, "first")));
    updates.placed("uid-1", new PodVolumes.Inline("v", DRIVER, "1Gi", "first"), "n1");
    assertThat(capacities.reservedVolumes()).isZero();

    updates.placed("uid-1", new PodVolumes.Inline("v", DRIVER, "1Gi", "1"), "n1");
    assertThat(capacities.reservedVolumes()).isEqualTo(1);
  }

  @Test
  void aClaimWithoutSelectedNodeOrThatIsDeletedEndsItsReservation() {
    updates.changed("default/a", WAITING, OWN);
    updates.changed("default/a", new Claim(false, "class", 100, ""), OWN);
    assertThat(capacities.reservedVolumes()).isZero();

    updates.changed("default/a", WAITING, OWN);
    updates.deleted("default/a");
    assertThat(capacities.reservedVolumes()).isZero();
  }
}
