package io.pmemcsi.operator.kinds.template;

import static io.pmemcsi.api.template.CSIDriverDeploymentStatus.STATE_MANAGED;
import static io.pmemcsi.api.template.CSIDriverDeploymentStatus.STATE_REMOVED;
import static io.pmemcsi.api.template.CSIDriverDeploymentStatus.STATE_UNMANAGED;
import static io.pmemcsi.api.template.DriverCondition.SYNC_SUCCESSFUL;

import io.pmemcsi.api.template.Child;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.api.template.NodeUpdate;
import io.pmemcsi.operator.deletion.DeletionDecision;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What one look at a driver has brought to light, without any times.
 *
 * @param generation of the resource that was looked at
 * @param state Managed, Unmanaged or Removed
 * @param complete whether everything is as this generation wants it
 * @param released whether nothing holds a deletion back any more
 * @param conditions those that were looked into; others keep what they said
 * @param children empty if nobody could look
 * @param nodeUpdate how far the nodes are updated; empty to keep what was said
 */
record TemplateObservedStatus(
    long generation,
    String state,
    boolean complete,
    boolean released,
    List<DriverCondition> conditions,
    Optional<List<Child>> children,
    Optional<NodeUpdate> nodeUpdate) {

  static final String TRUE = "True";
  static final String FALSE = "False";

  TemplateObservedStatus {
    conditions = List.copyOf(conditions);
  }

  /** All objects are as they should be. */
  static TemplateObservedStatus synced(
      long generation, Availability availability, Optional<NodeUpdate> nodeUpdate) {
    return new TemplateObservedStatus(
        generation,
        STATE_MANAGED,
        true,
        false,
        List.of(
            availability.condition(),
            condition(SYNC_SUCCESSFUL, true, "Synced", "All objects are as they should be.")),
        Optional.of(availability.children()),
        nodeUpdate);
  }

  /** Whether the driver runs does not depend on whether its last change could be carried out. */
  static TemplateObservedStatus failed(
      long generation,
      Availability availability,
      String reason,
      String message,
      Optional<NodeUpdate> nodeUpdate) {
    return new TemplateObservedStatus(
        generation,
        STATE_MANAGED,
        false,
        false,
        List.of(availability.condition(), condition(SYNC_SUCCESSFUL, false, reason, message)),
        Optional.empty(),
        nodeUpdate);
  }

  /** Nothing is written, but whether the driver runs can still be said. */
  static TemplateObservedStatus unmanaged(
      long generation, Availability availability, Optional<NodeUpdate> nodeUpdate) {
    return new TemplateObservedStatus(
        generation,
        STATE_UNMANAGED,
        false,
        false,
        List.of(availability.condition()),
        Optional.empty(),
        nodeUpdate);
  }

  /** The objects are being removed. */
  static TemplateObservedStatus removing(long generation) {
    return new TemplateObservedStatus(
        generation, STATE_REMOVED, false, true, List.of(), Optional.empty(), Optional.empty());
  }

  /** The same of a resource whose deletion is held back. */
  TemplateObservedStatus held(String message) {
    return inDeletion()
        .and(
            condition(
                DeletionDecision.Hold.CONDITION, true, DeletionDecision.Hold.REASON, message));
  }

  /** The same of a resource that somebody has deleted. */
  TemplateObservedStatus inDeletion() {
    return new TemplateObservedStatus(
        generation, STATE_REMOVED, complete, released, conditions, children, nodeUpdate);
  }

  /** With one more condition. */
  TemplateObservedStatus and(DriverCondition condition) {
    var all = new ArrayList<>(conditions);
    all.add(condition);
    return new TemplateObservedStatus(
        generation, state, complete, released, all, children, nodeUpdate);
  }

  static DriverCondition condition(String type, boolean status, String reason, String message) {
    return new DriverCondition(type, status ? TRUE : FALSE, null, reason, message);
  }
}
