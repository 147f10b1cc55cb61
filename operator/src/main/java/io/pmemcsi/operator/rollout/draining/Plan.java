package io.pmemcsi.operator.rollout.draining;

import java.util.List;

/**
 * What to do next, and what the status says meanwhile.
 *
 * @param actions those for one node in this order; after a failure the rest of them is void
 * @param reports of every node that is worked on or outdated
 * @param hindrance why no further node is begun, or empty
 * @param stopped whether that is so although a node could be begun
 */
record Plan(
    List<DrainAction> actions, List<NodeReport> reports, String hindrance, boolean stopped) {

  Plan {
    actions = List.copyOf(actions);
    reports = List.copyOf(reports);
  }

  /** Whether nothing is outdated and no node is marked. */
  boolean isFinished() {
    return reports.isEmpty();
  }

  /** Whether some node is worked on, or will be after the actions. */
  boolean isBusy() {
    return reports.stream().anyMatch(report -> report.step().isPresent());
  }

  boolean isPaused() {
    return !isFinished()
        && (stopped || !isBusy() || reports.stream().anyMatch(NodeReport::overdue));
  }
}
