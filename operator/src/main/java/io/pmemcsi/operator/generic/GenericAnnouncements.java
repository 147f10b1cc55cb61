package io.pmemcsi.operator.generic;

import io.pmemcsi.api.generic.CSIDriverDeploymentStatus;
import io.pmemcsi.api.generic.DriverCondition;
import io.pmemcsi.operator.engine.ObjectRef;
import io.pmemcsi.operator.events.Announcement;
import io.pmemcsi.operator.guard.DeletionDecision;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Which events a change of status is worth: one per change, none per repetition. */
final class GenericAnnouncements {

  private GenericAnnouncements() {}

  static List<Announcement> of(CSIDriverDeploymentStatus previous, CSIDriverDeploymentStatus next) {
    var result = new ArrayList<Announcement>();
    Optional<DriverCondition> before = previous.condition(DriverCondition.SYNC_SUCCESSFUL);
    next.condition(DriverCondition.SYNC_SUCCESSFUL)
        .filter(now -> before.filter(now::saysTheSameAs).isEmpty())
        .ifPresent(
            now -> {
              if (now.status().equals(GenericFindings.FALSE)) {
                result.add(Announcement.warning("SyncError", String.valueOf(now.message())));
              } else if (!is(before, GenericFindings.TRUE)) {
                result.add(Announcement.normal("Synced", "All objects of the driver are made"));
              }
            });
    Optional<DriverCondition> available = next.condition(DriverCondition.AVAILABLE);
    if (is(available, GenericFindings.TRUE)
        && !is(previous.condition(DriverCondition.AVAILABLE), GenericFindings.TRUE)) {
      result.add(Announcement.normal("Available", "All driver pods are ready"));
    }
    next.condition(DeletionDecision.Hold.CONDITION)
        .filter(now -> previous.condition(now.type()).isEmpty())
        .ifPresent(
            now -> result.add(Announcement.warning(now.type(), String.valueOf(now.message()))));
    if (isPaused(next) && !isPaused(previous)) {
      result.add(
          Announcement.warning(
              "NodeUpdatePaused",
              String.valueOf(Objects.requireNonNull(next.nodeUpdate()).message())));
    }
    if (!Objects.equals(previous.state(), next.state())
        && CSIDriverDeploymentStatus.STATE_UNMANAGED.equals(next.state())) {
      result.add(
          Announcement.normal("Unmanaged", "The objects of the driver are left alone from now on"));
    }
    return result;
  }

  static Announcement recreated(ObjectRef object) {
    return Announcement.normal(
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
