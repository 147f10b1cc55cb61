package io.pmemcsi.controller.cluster;

import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.controller.capacity.NodeCapacities;
import io.pmemcsi.controller.volume.ByteQuantity;
import io.pmemcsi.controller.volume.Claim;
import io.pmemcsi.controller.volume.NeededVolume;
import io.pmemcsi.controller.volume.PodVolumes;
import io.pmemcsi.controller.volume.VolumeClass;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Turns what claims and pods show into reservations: where a volume is going to be, and that it
 * exists. A controller that starts finds the reservations of its predecessor in this way.
 */
public final class ReservationUpdates implements ClusterCache.ClaimListener, PendingPods.Listener {

  private final DriverName driver;
  private final NodeCapacities capacities;
  private final Consumer<String> refresh;
  private final Clock clock;

  /**
   * @param refresh gets nodes whose capacity has just changed
   */
  public ReservationUpdates(
      DriverName driver, NodeCapacities capacities, Consumer<String> refresh, Clock clock) {
    this.driver = driver;
    this.capacities = capacities;
    this.refresh = refresh;
    this.clock = clock;
  }

  /** Nothing is reserved while the class is not known: it may be one of another driver. */
  @Override
  public void changed(String key, Claim claim, Optional<VolumeClass> volumeClass) {
    Optional<VolumeClass> own =
        volumeClass.filter(known -> known.provisioner().equals(driver.value()));
    if (own.isEmpty()) {
      capacities.unassign(key);
    } else if (claim.bound()) {
      created(key);
    } else if (claim.selectedNode().isEmpty()) {
      capacities.unassign(key);
    } else {
      assign(key, claim::bytes, own.get().numaNode(), claim.selectedNode());
    }
  }

  @Override
  public void deleted(String key) {
    capacities.unassign(key);
  }

  @Override
  public void placed(String pod, PodVolumes.Inline volume, String node) {
    assign(
        NeededVolume.inlineKey(pod, volume.name()),
        () -> ByteQuantity.parse(volume.size()),
        volume.numaNode(),
        node);
  }

  @Override
  public void started(String pod, List<String> volumes) {
    volumes.forEach(volume -> created(NeededVolume.inlineKey(pod, volume)));
    capacities.release(pod);
  }

  @Override
  public void deleted(String pod, List<String> volumes) {
    volumes.forEach(volume -> capacities.unassign(NeededVolume.inlineKey(pod, volume)));
    capacities.release(pod);
  }

  private void assign(String key, LongSupplier bytes, String numaNode, String node) {
    try {
      capacities.assign(new NeededVolume(key, bytes.getAsLong(), numaNode), node, clock.instant());
    } catch (IllegalArgumentException e) {
      // the driver refuses such a volume: nothing to reserve
      capacities.unassign(key);
    }
  }

  private void created(String volume) {
    capacities.created(volume, clock.instant()).ifPresent(refresh);
  }
}
