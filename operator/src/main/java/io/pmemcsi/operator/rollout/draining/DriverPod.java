package io.pmemcsi.operator.rollout.draining;

/**
 * A pod of the driver on a node.
 *
 * @param revision hash of the template that it was made from
 */
public record DriverPod(
    String namespace,
    String name,
    String uid,
    String revision,
    boolean ready,
    boolean terminating) {

  boolean isOutdated(String wanted) {
    return !terminating && !revision.equals(wanted);
  }

  boolean runs(String wanted) {
    return !terminating && ready && revision.equals(wanted);
  }
}
