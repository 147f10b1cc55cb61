package io.pmemcsi.operator.kinds.pmem;

import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_FAILED;
import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_RUNNING;

import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.deletion.DeletionDecision;
import io.pmemcsi.operator.events.EventMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Which events a change of status is worth: one per change, none per repetition. */
final class PmemEventMessages {

  static final EventMessage NEW =
      EventMessage.normal("NewDeployment", "Processing new driver deployment");

  private PmemEventMessages() {}

  static boolean isNew(PmemCSIDeploymentStatus status) {
    return status.phaseOrNew().isEmpty();
  }

  static List<EventMessage> of(PmemCSIDeploymentStatus previous, PmemCSIDeploymentStatus next) {
    var result = new ArrayList<EventMessage>();
    boolean sameReason = Objects.equals(previous.reason(), next.reason());
    boolean samePhase = previous.phaseOrNew().equals(next.phaseOrNew());
    if (next.phaseOrNew().equals(PHASE_RUNNING) && !samePhase) {
      result.add(EventMessage.normal("Running", "Driver deployment successful"));
    }
    if (next.phaseOrNew().equals(PHASE_FAILED) && !(samePhase && sameReason)) {
      result.add(EventMessage.warning("Failed", String.valueOf(next.reason())));
    }
    for (String passing : List.of(DeletionDecision.Hold.CONDITION, ObservedStatus.CONTESTED)) {
      if (previous.condition(passing).isEmpty()) {
        next.condition(passing)
            .map(DeploymentCondition::message)
            .ifPresent(message -> result.add(EventMessage.warning(passing, message)));
      }
    }
    if (!next.phaseOrNew().equals(PHASE_FAILED)) {
      unverified(next)
          .filter(message -> !unverified(previous).equals(Optional.of(message)))
          .ifPresent(message -> result.add(EventMessage.warning("CertsNotVerified", message)));
    }
    return result;
  }

  /** Where a driver runs nevertheless, nothing else tells of it. */
  private static Optional<String> unverified(PmemCSIDeploymentStatus status) {
    return status
        .condition(DeploymentCondition.CERTS_VERIFIED)
        .filter(condition -> condition.status().equals(ObservedStatus.FALSE))
        .map(DeploymentCondition::message);
  }
}
