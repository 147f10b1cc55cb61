package io.pmemcsi.driver.registry;

import io.grpc.Context;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.device.ExpiringCache;
import io.pmemcsi.driver.registry.RegistryException.Unavailable;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The nodes with the driver whose volumes the controller does not know: its records were lost, for
 * example with its pod, and these nodes have not registered since. An earlier controller may have
 * created any volume on them.
 */
final class UnreportedNodes {

  private static final Logger LOG = LoggerFactory.getLogger(UnreportedNodes.class);

  /** While a node stays away, each creation needs the inventory, which is costly to list. */
  private static final Duration CACHED = Duration.ofSeconds(10);

  private final NodeInventory inventory;
  private final VolumeLocations locations;
  private final StartUp startUp;
  private final ExpiringCache<Set<String>> cached = new ExpiringCache<>(this::inventory, CACHED);
  private volatile boolean complete;

  UnreportedNodes(NodeInventory inventory, VolumeLocations locations, StartUp startUp) {
    this.inventory = inventory;
    this.locations = locations;
    this.startUp = startUp;
  }

  /** Whether nodes may still be about to register. */
  boolean isSettling() {
    return startUp.isSettling();
  }

  /**
   * The names of these nodes, sorted. When all nodes have reported, the cluster is not asked again:
   * a node that joins later was never called by an earlier controller.
   */
  List<String> names() {
    if (complete) {
      return List.of();
    }
    List<String> unreported = unreported(cachedInventory());
    complete = unreported.isEmpty() && !isSettling();
    return unreported;
  }

  /** Loaded again as soon as all its nodes have reported: only a new list can confirm that. */
  private synchronized Set<String> cachedInventory() {
    if (Context.current().isCancelled()) {
      throw new RegistryException.Cancelled(
          "the call ended while it waited for the list of the nodes with the driver");
    }
    return cached.getIf(nodes -> !unreported(nodes).isEmpty());
  }

  private List<String> unreported(Collection<String> nodes) {
    return nodes.stream().filter(node -> !locations.hasReported(node)).sorted().toList();
  }

  /**
   * Removes the records of those nodes that never reported and were deleted: an administrator who
   * deletes a Node gives up its volumes. One where the driver stopped keeps them.
   */
  void giveUpDeleted(Collection<String> nodes) {
    List<String> unreported = unreported(nodes);
    if (unreported.isEmpty()) {
      return;
    }
    for (String node : deleted(unreported)) {
      if (locations.giveUp(node)) {
        LOG.atWarn()
            .addKeyValue("node", node)
            .log("Node never reported and was deleted: the volumes that it may have are lost.");
      }
    }
  }

  private Set<String> deleted(Collection<String> nodes) {
    try {
      return inventory.deleted(nodes);
    } catch (IOException e) {
      throw cannotList(e);
    }
  }

  /** All nodes with the driver, as far as the cluster knows. */
  Set<String> inventory() {
    try {
      return inventory.nodes();
    } catch (IOException e) {
      throw cannotList(e);
    }
  }

  private static Unavailable cannotList(IOException cause) {
    return new Unavailable("the nodes with the driver cannot be listed: " + Reason.of(cause));
  }
}
