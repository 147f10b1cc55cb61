package io.pmemcsi.operator.kinds.template;

import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.deletion.DeletionDecision;
import io.pmemcsi.operator.events.EventMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Which events a change of status is worth: one per change, none per repetition. */
final class TemplateEventMessages {

  private TemplateEventMessages() {}

  static List<EventMessage> of(CSIDriverDeploymentStatus previous, CSIDriverDeploymentStatus next) {
    var result = new ArrayList<EventMessage>();
    Optional<DriverCondition> before = previous.condition(DriverCondition.SYNC_SUCCESSFUL);
    next.condition(DriverCondition.SYNC_SUCCESSFUL)
        .filter(now -> before.filter(now::saysTheSameAs).isEmpty())
        .ifPresent(
            now -> {
              if (now.status().equals(TemplateObservedStatus.FALSE)) {
                result.add(EventMessage.warning("SyncError", String.valueOf(now.message())));
              } else if (!is(before, TemplateObservedStatus.TRUE)) {
                result.add(EventMessage.normal("Synced", "All objects of the driver are made"));
              }
            });
    Optional<DriverCondition> available = next.condition(DriverCondition.AVAILABLE);
    if (is(available, TemplateObservedStatus.TRUE)
        && !is(previous.condition(DriverCondition.AVAILABLE), TemplateObservedStatus.TRUE)) {
      result.add(EventMessage.normal("Available", "All driver pods are ready"));
    }
    next.condition(DeletionDecision.Hold.CONDITION)
        .filter(now -> previous.condition(now.type()).isEmpty())
        .ifPresent(
            now -> result.add(EventMessage.warning(now.type(), String.valueOf(now.message()))));
    if (isPaused(next) && !isPaused(previous)) {
      result.add(
          EventMessage.warning(
              "NodeUpdatePaused",
              String.valueOf(Objects.requireNonNull(next.nodeUpdate()).message())));
    }
    if (!Objects.equals(previous.state(), next.state())
        && CSIDriverDeploymentStatus.STATE_UNMANAGED.equals(next.state())) {
      result.add(
          EventMessage.normal("Unmanaged", "The objects of the driver are left alone from now on"));
    }
    return result;
  }

  static EventMessage recreated(ObjectRef object) {
    return EventMessage.normal(
        "Recreated",
        object + " was deleted and created again: a field changed that cannot be changed in place");
  }

  private static boolean isPaused(CSIDriverDeploymentStatus status) {
    return status.nodeUpdate() != null && Boolean.TRUE.equals(status.nodeUpdate().paused());
  }

  private static boolean is(Optional<DriverCondition> condition, String status) {
    return condition.filter(one -> one.status().equals(status)).isPresent();
  }
}
