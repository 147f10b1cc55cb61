package io.pmemcsi.controller.rescheduler;

import java.util.Map;

/** Decides whether a claim waits for a node on which it will never be provisioned. */
final class StuckClaim {

  private StuckClaim() {}

  /**
   * Whether the claim needs another node: only if the driver neither runs on the selected one nor
   * is meant to. A node with the labels may just be starting; one without them may still have a
   * driver that was meant to run there before.
   *
   * @param driverListed whether the node's CSINode lists the driver
   * @param nodeLabels empty for a node that does not exist
   */
  static boolean needsAnotherNode(
      boolean driverListed, Map<String, String> nodeLabels, Map<String, String> nodeSelector) {
    return !driverListed && !nodeLabels.entrySet().containsAll(nodeSelector.entrySet());
  }
}
