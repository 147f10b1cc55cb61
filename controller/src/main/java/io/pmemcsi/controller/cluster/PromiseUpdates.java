package io.pmemcsi.controller.cluster;

import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.controller.capacity.NodeCapacities;
import io.pmemcsi.controller.volume.ByteQuantity;
import io.pmemcsi.controller.volume.Claim;
import io.pmemcsi.controller.volume.NeededVolume;
import io.pmemcsi.controller.volume.VolumeClass;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Turns what claims and pods show into promises: where a volume is going to be, and that it exists.
 * A controller that starts finds the promises of its predecessor in this way.
 */
public final class PromiseUpdates implements ClusterCache.ClaimListener, PendingPods.Listener {

  private final DriverName driver;
  private final NodeCapacities capacities;
  private final Consumer<String> refresh;
  private final Clock clock;

  /**
   * @param refresh gets nodes whose capacity has just changed
   */
  public PromiseUpdates(
      DriverName driver, NodeCapacities capacities, Consumer<String> refresh, Clock clock) {
    this.driver = driver;
    this.capacities = capacities;
    this.refresh = refresh;
    this.clock = clock;
  }

  /** A class that is not known yet may be one of this driver: then too much is promised for now. */
  @Override
  public void changed(String key, Claim claim, Optional<VolumeClass> volumeClass) {
    if (volumeClass.filter(known -> !known.provisioner().equals(driver.value())).isPresent()) {
      return;
    }
    if (claim.bound()) {
      created(key);
    } else if (claim.selectedNode().isEmpty()) {
      capacities.unassign(key);
    } else {
      capacities.assign(key, claim.bytes(), claim.selectedNode());
    }
  }

  @Override
  public void deleted(String key) {
    capacities.unassign(key);
  }

  @Override
  public void placed(String pod, String volume, String size, String node) {
    try {
      capacities.assign(NeededVolume.inlineKey(pod, volume), ByteQuantity.parse(size), node);
    } catch (IllegalArgumentException e) {
      // the driver refuses such a volume: nothing to reserve
      capacities.unassign(NeededVolume.inlineKey(pod, volume));
    }
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

  private void created(String volume) {
    capacities.created(volume, clock.instant()).ifPresent(refresh);
  }
}
