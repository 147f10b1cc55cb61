package io.pmemcsi.operator.rollout.draining;

/** One thing to do on a node. Waiting is no action: whoever does these looks again later. */
public sealed interface DrainAction {

  WorkerNode node();

  /** Keep new pods away and note it, in one write. */
  record Cordon(WorkerNode node, DrainAnnotation mark) implements DrainAction {}

  /** Note that a step begins. */
  record Enter(WorkerNode node, DrainAnnotation mark) implements DrainAction {}

  /** Ask a pod to leave, unless its disruption budget forbids that now. */
  record Evict(WorkerNode node, VolumeConsumer pod) implements DrainAction {}

  /** Delete this very driver pod; the DaemonSet makes one of the wanted revision. */
  record RestartDriver(WorkerNode node, DriverPod pod) implements DrainAction {}

  /**
   * Remove the note and, in the same write, let pods come again.
   *
   * @param schedulable false leaves the cordon, since somebody else wants it
   */
  record Uncordon(WorkerNode node, boolean schedulable) implements DrainAction {}
}
