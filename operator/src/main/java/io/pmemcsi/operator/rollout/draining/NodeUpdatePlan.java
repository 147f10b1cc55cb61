package io.pmemcsi.operator.rollout.draining;

import io.pmemcsi.api.template.NodeUpdate;
import java.time.Duration;
import java.util.Optional;

/**
 * What {@link NodeUpdates} observed and decided, before anything is executed.
 *
 * @param status to report, if the plan is not executed
 * @param requeueAfter when to plan again, if nothing else triggers a reconciliation
 */
public record NodeUpdatePlan(
    UpdateRequest request, Work work, NodeUpdate status, Optional<Duration> requeueAfter) {

  /** What to execute. */
  sealed interface Work {

    record None() implements Work {}

    /** Release all nodes of the resource. */
    record Release() implements Work {}

    /** The actions of a drain plan. */
    record Drain(NodeSnapshot snapshot, DrainPlan plan) implements Work {}
  }
}
