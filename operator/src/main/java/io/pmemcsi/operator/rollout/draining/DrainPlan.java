package io.pmemcsi.operator.rollout.draining;

import java.util.List;

/**
 * The next actions, and what to report.
 *
 * @param actions in order per node; after a failure the others of that node are skipped
 * @param reports of every node that is in progress or outdated
 * @param blocker why no further node is started, or empty
 * @param paused whether no further node may start
 */
record DrainPlan(
    List<DrainAction> actions, List<NodeReport> reports, String blocker, boolean paused) {

  DrainPlan {
    actions = List.copyOf(actions);
    reports = List.copyOf(reports);
  }

  /** Whether no node is outdated or in progress. */
  boolean isFinished() {
    return reports.isEmpty();
  }

  /** Whether a node is in progress, or will be after the actions. */
  boolean isBusy() {
    return reports.stream().anyMatch(report -> report.step().isPresent());
  }

  boolean isPaused() {
    return !isFinished() && (paused || !isBusy() || reports.stream().anyMatch(NodeReport::overdue));
  }
}
