package io.pmemcsi.operator.kinds.template;

import static io.pmemcsi.api.template.CSIDriverDeploymentStatus.STATE_MANAGED;
import static io.pmemcsi.api.template.CSIDriverDeploymentStatus.STATE_REMOVED;
import static io.pmemcsi.api.template.CSIDriverDeploymentStatus.STATE_UNMANAGED;
import static io.pmemcsi.operator.kinds.template.TemplateCondition.AVAILABLE;
import static io.pmemcsi.operator.kinds.template.TemplateCondition.DELETION_HELD;
import static io.pmemcsi.operator.kinds.template.TemplateCondition.SYNC_SUCCESSFUL;

import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.Child;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.api.template.NodeUpdate;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.controller.StatusUpdate;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What one reconciliation observed, without any times.
 *
 * @param generation of the resource that was observed
 * @param state Managed, Unmanaged or Removed
 * @param complete whether everything is as this generation desires it
 * @param released whether nothing blocks a deletion any more
 * @param conditions those that were observed; others stay as they are
 * @param children empty if they were not observed
 * @param nodeUpdate how far the nodes are updated; empty to keep what the status shows
 */
record TemplateObservedStatus(
    long generation,
    String state,
    boolean complete,
    boolean released,
    List<DriverCondition> conditions,
    Optional<List<Child>> children,
    Optional<NodeUpdate> nodeUpdate)
    implements StatusUpdate<CSIDriverDeploymentStatus> {

  TemplateObservedStatus {
    conditions = List.copyOf(conditions);
  }

  @Override
  public CSIDriverDeploymentStatus next(CSIDriverDeploymentStatus previous, Instant now) {
    return TemplateStatusMapper.next(previous, this, now);
  }

  /**
   * A driver whose objects are as desired.
   *
   * @param missingApi why its pods may not get ready
   */
  static TemplateObservedStatus synced(
      long generation, TemplateRunning running, Optional<String> missingApi) {
    return new TemplateObservedStatus(
        generation,
        STATE_MANAGED,
        true,
        false,
        List.of(
            running.availability().condition(missingApi),
            SYNC_SUCCESSFUL.isTrue(TemplateReason.SYNCED, "All objects are as they should be.")),
        Optional.of(running.availability().children()),
        running.nodeUpdate());
  }

  /** A problem does not change whether the driver runs. */
  static TemplateObservedStatus failed(long generation, TemplateRunning running, Problem problem) {
    return new TemplateObservedStatus(
        generation,
        STATE_MANAGED,
        false,
        false,
        List.of(
            running.availability().condition(),
            SYNC_SUCCESSFUL.isFalse(TemplateReason.of(problem.cause()), problem.message())),
        Optional.empty(),
        running.nodeUpdate());
  }

  /** Nothing is written, but the status shows whether the driver runs. */
  static TemplateObservedStatus unmanaged(long generation, TemplateRunning running) {
    return new TemplateObservedStatus(
        generation,
        STATE_UNMANAGED,
        false,
        false,
        List.of(running.availability().condition()),
        Optional.empty(),
        running.nodeUpdate());
  }

  /**
   * What a driver that is not managed looks like cannot be read. The condition SyncSuccessful stays
   * as it is: no later reconciliation would correct it.
   */
  static TemplateObservedStatus unreadable(long generation, Problem problem) {
    return new TemplateObservedStatus(
        generation,
        STATE_UNMANAGED,
        false,
        false,
        List.of(AVAILABLE.isFalse(TemplateReason.of(problem.cause()), problem.message())),
        Optional.empty(),
        Optional.empty());
  }

  /** The objects are being removed. */
  static TemplateObservedStatus removing(long generation, Optional<Problem> problem) {
    return new TemplateObservedStatus(
        generation,
        STATE_REMOVED,
        false,
        true,
        problem.stream()
            .map(
                delay -> SYNC_SUCCESSFUL.isFalse(TemplateReason.of(delay.cause()), delay.message()))
            .toList(),
        Optional.empty(),
        Optional.empty());
  }

  /** The same of a resource whose deletion is blocked. */
  TemplateObservedStatus held(Hold hold) {
    var all = new ArrayList<>(conditions);
    all.add(DELETION_HELD.isTrue(TemplateReason.VOLUMES_IN_USE, hold.message()));
    return new TemplateObservedStatus(
        generation, STATE_REMOVED, complete, released, all, children, nodeUpdate);
  }

  /** The same of a deleted resource. */
  TemplateObservedStatus inDeletion() {
    return new TemplateObservedStatus(
        generation, STATE_REMOVED, complete, released, conditions, children, nodeUpdate);
  }
}
