package io.pmemcsi.operator.rollout.draining;

import java.time.Instant;
import java.util.Optional;

/**
 * The progress of one node.
 *
 * @param waiting for what, as a message
 * @param overdue whether the timeout of the step has passed
 */
record NodeReport(
    WorkerNode node,
    Optional<Step> step,
    Optional<Instant> since,
    Optional<String> waiting,
    boolean overdue) {

  static NodeReport idle(WorkerNode node) {
    return new NodeReport(node, Optional.empty(), Optional.empty(), Optional.empty(), false);
  }

  /** A node that cannot be started. */
  static NodeReport blocked(WorkerNode node, String reason) {
    return new NodeReport(node, Optional.empty(), Optional.empty(), Optional.of(reason), false);
  }

  static NodeReport at(WorkerNode node, Step step, Instant since) {
    return new NodeReport(node, Optional.of(step), Optional.of(since), Optional.empty(), false);
  }

  NodeReport waitingFor(String what, boolean tooLong) {
    return new NodeReport(node, step, since, Optional.of(what), tooLong);
  }
}
