package io.pmemcsi.operator.rollout.draining;

/** An action on a node. Waiting is no action: the next reconciliation plans again. */
sealed interface DrainAction {

  WorkerNode node();

  /** Cordons the node and annotates it, in one write. */
  record Cordon(WorkerNode node, DrainAnnotation annotation) implements DrainAction {}

  /** Records that a step begins. */
  record SetStep(WorkerNode node, DrainAnnotation annotation) implements DrainAction {}

  /** Evicts a pod, unless its disruption budget forbids that now. */
  record Evict(WorkerNode node, VolumeConsumer pod) implements DrainAction {}

  /** Deletes this very driver pod; its DaemonSet creates one of the desired revision. */
  record RestartDriver(WorkerNode node, DriverPod pod) implements DrainAction {}

  /**
   * Removes the annotation and, in the same write, the cordon.
   *
   * @param schedulable false keeps the cordon, because a user or another driver needs it
   */
  record Uncordon(WorkerNode node, boolean schedulable) implements DrainAction {}
}
