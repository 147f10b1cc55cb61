package io.pmemcsi.operator.rollout.draining;

/**
 * A pod of the driver on a node.
 *
 * @param revision hash of the pod template
 */
record DriverPod(
    String namespace,
    String name,
    String uid,
    String revision,
    boolean ready,
    boolean terminating) {

  boolean isOutdated(String desired) {
    return !terminating && !revision.equals(desired);
  }

  boolean runs(String desired) {
    return !terminating && ready && revision.equals(desired);
  }
}
