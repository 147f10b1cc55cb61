package io.pmemcsi.operator.kinds.template;

import static io.pmemcsi.operator.kinds.template.TemplateCondition.AVAILABLE;
import static io.pmemcsi.operator.kinds.template.TemplateCondition.DELETION_HELD;
import static io.pmemcsi.operator.kinds.template.TemplateCondition.SYNC_SUCCESSFUL;

import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.controller.EventMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The events that a change of status raises: one per change, none per repetition. */
final class TemplateEventMessages {

  private TemplateEventMessages() {}

  static List<EventMessage> of(CSIDriverDeploymentStatus previous, CSIDriverDeploymentStatus next) {
    var result = new ArrayList<EventMessage>();
    for (TemplateCondition condition : TemplateCondition.values()) {
      switch (condition) {
        case SYNC_SUCCESSFUL -> synced(previous, next).ifPresent(result::add);
        case AVAILABLE -> available(previous, next).ifPresent(result::add);
        case DELETION_HELD -> held(previous, next).ifPresent(result::add);
      }
    }
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

  private static Optional<EventMessage> synced(
      CSIDriverDeploymentStatus previous, CSIDriverDeploymentStatus next) {
    Optional<DriverCondition> before = previous.condition(SYNC_SUCCESSFUL.type());
    Optional<DriverCondition> changed =
        next.condition(SYNC_SUCCESSFUL.type())
            .filter(now -> before.filter(now::equalsIgnoringTime).isEmpty());
    if (changed.filter(TemplateCondition::isFalse).isPresent()) {
      return Optional.of(
          EventMessage.warning("SyncError", String.valueOf(changed.get().message())));
    }
    return changed.isPresent() && !SYNC_SUCCESSFUL.isTrueIn(previous)
        ? Optional.of(EventMessage.normal("Synced", "All objects of the driver are applied"))
        : Optional.empty();
  }

  private static Optional<EventMessage> available(
      CSIDriverDeploymentStatus previous, CSIDriverDeploymentStatus next) {
    return AVAILABLE.isTrueIn(next) && !AVAILABLE.isTrueIn(previous)
        ? Optional.of(EventMessage.normal("Available", "All driver pods are ready"))
        : Optional.empty();
  }

  private static Optional<EventMessage> held(
      CSIDriverDeploymentStatus previous, CSIDriverDeploymentStatus next) {
    return next.condition(DELETION_HELD.type())
        .filter(now -> previous.condition(now.type()).isEmpty())
        .map(now -> EventMessage.warning(now.type(), String.valueOf(now.message())));
  }

  private static boolean isPaused(CSIDriverDeploymentStatus status) {
    return status.nodeUpdate() != null && Boolean.TRUE.equals(status.nodeUpdate().paused());
  }
}
