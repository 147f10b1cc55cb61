package io.pmemcsi.operator.pmemdriver;

import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_FAILED;
import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_NEW;
import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_RUNNING;
import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_UNMANAGED;

import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.controller.EventMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The events that a change of status raises: one per change, none per repetition. */
final class PmemEventMessages {

  private PmemEventMessages() {}

  static List<EventMessage> of(PmemCSIDeploymentStatus previous, PmemCSIDeploymentStatus next) {
    var result = new ArrayList<EventMessage>();
    boolean sameReason = Objects.equals(previous.reason(), next.reason());
    boolean samePhase = previous.phaseOrNew().equals(next.phaseOrNew());
    boolean failed = next.phaseOrNew().equals(PHASE_FAILED);
    if (previous.phaseOrNew().equals(PHASE_NEW)) {
      result.add(EventMessage.normal("NewDeployment", "Processing new driver deployment"));
    }
    if (next.phaseOrNew().equals(PHASE_RUNNING) && !samePhase) {
      result.add(EventMessage.normal("Running", "Driver deployment successful"));
    }
    if (next.phaseOrNew().equals(PHASE_UNMANAGED) && !samePhase) {
      result.add(
          EventMessage.normal("Unmanaged", "The objects of the driver are left alone from now on"));
    }
    if (failed && !(samePhase && sameReason)) {
      result.add(EventMessage.warning("Failed", String.valueOf(next.reason())));
    }
    for (PmemCondition condition : PmemCondition.values()) {
      switch (condition.raises()) {
        case NOTHING -> {}
        case WHEN_NEW -> whenNew(condition, previous, next).ifPresent(result::add);
        case WHEN_FALSE -> {
          if (!failed) {
            whenFalse(condition, previous, next).ifPresent(result::add);
          }
        }
      }
    }
    return result;
  }

  private static Optional<EventMessage> whenNew(
      PmemCondition condition, PmemCSIDeploymentStatus previous, PmemCSIDeploymentStatus next) {
    return previous.condition(condition.type()).isPresent()
        ? Optional.empty()
        : next.condition(condition.type())
            .map(DeploymentCondition::message)
            .map(message -> EventMessage.warning(condition.eventReason(), message));
  }

  private static Optional<EventMessage> whenFalse(
      PmemCondition condition, PmemCSIDeploymentStatus previous, PmemCSIDeploymentStatus next) {
    return falseMessage(condition, next)
        .filter(message -> !falseMessage(condition, previous).equals(Optional.of(message)))
        .map(message -> EventMessage.warning(condition.eventReason(), message));
  }

  private static Optional<String> falseMessage(
      PmemCondition condition, PmemCSIDeploymentStatus status) {
    return status
        .condition(condition.type())
        .filter(condition::isFalse)
        .map(DeploymentCondition::message);
  }
}
