package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.client.CustomResource;
import io.pmemcsi.api.SharedSpec;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.controller.ClusterReader;
import java.time.Clock;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Observes volumes on nodes that do not exist any more: volumes are local, so they end with their
 * node.
 *
 * @param <R> the kind
 */
public final class LostNodesReader<
    R extends CustomResource<? extends SharedSpec, PmemCSIDeploymentStatus>> {

  private final PmemWatches<R> watches;
  private final LostVolumesReader volumes;

  /**
   * By driver and node: since when this operator has seen that the node does not exist. The status
   * is not enough: while no operator ran, the Node may have returned and been deleted again.
   */
  private final Map<String, Map<String, Instant>> observedSince = new ConcurrentHashMap<>();

  public LostNodesReader(PmemWatches<R> watches, Clock clock) {
    this.watches = watches;
    this.volumes = new LostVolumesReader(clock);
  }

  /**
   * The volumes of a driver on nodes that do not exist.
   *
   * @param driver the name of the CSI driver
   */
  public LostVolumes read(String driver, Instant now, ClusterReader<R> cluster) {
    LostVolumes lost =
        LostVolumes.of(
            volumes.read(driver, watches.nodeNames(cluster), cluster.client()),
            observedSince.getOrDefault(driver, Map.of()),
            now);
    observedSince.put(driver, lost.observedSince());
    return lost;
  }

  /** The driver does not exist any more. */
  public void forget(String driver) {
    observedSince.remove(driver);
  }
}
