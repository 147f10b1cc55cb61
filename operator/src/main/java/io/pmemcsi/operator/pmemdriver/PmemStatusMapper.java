package io.pmemcsi.operator.pmemdriver;

import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_FAILED;
import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_INITIALIZING;
import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_RUNNING;
import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_TERMINATING;
import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_UNMANAGED;

import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.controller.Conditions;
import io.pmemcsi.operator.controller.EventMessage;
import io.pmemcsi.operator.controller.Readiness;
import io.pmemcsi.operator.controller.StatusMapper;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** From the previous status and what was observed to the next status and its events. */
public final class PmemStatusMapper implements StatusMapper<PmemCSIDeploymentStatus> {

  static final String ALL_DEPLOYED = "All driver components are deployed successfully";

  private static final String UNMANAGED =
      "The operator leaves the objects of the driver alone because managementState is Unmanaged.";

  static PmemCSIDeploymentStatus next(
      PmemCSIDeploymentStatus previous, ObservedStatus observed, Instant now) {
    List<DriverComponent> components = components(previous, observed, now);
    boolean ready = observed.notDeployed().isEmpty() && allReady(components);
    String phase = phase(observed, ready);
    String reason =
        observed
            .failure()
            .or(observed::deletionHeld)
            .or(observed::notDeployed)
            .orElseGet(() -> state(observed, components));
    var next =
        new PmemCSIDeploymentStatus(
            phase,
            reason,
            observed.generation(),
            conditions(previous, observed, now),
            components,
            observed.components().isEmpty()
                ? previous.unpreparedNodes()
                : observed.unpreparedNodes(),
            observed.lostNodes().orElseGet(previous::lostNodes),
            observed.failure().isPresent()
                ? previous.certificateExpires()
                : observed.certificateExpires().orElse(null),
            previous.lastUpdated());
    return next.equals(previous) ? previous : next.with(next.conditions(), now);
  }

  private static String phase(ObservedStatus observed, boolean ready) {
    if (observed.failure().isPresent()) {
      return PHASE_FAILED;
    }
    return switch (observed.mode()) {
      case MANAGED -> ready ? PHASE_RUNNING : PHASE_INITIALIZING;
      case UNMANAGED -> PHASE_UNMANAGED;
      case TERMINATING -> PHASE_TERMINATING;
    };
  }

  private static boolean allReady(List<DriverComponent> components) {
    return !components.isEmpty()
        && components.stream()
            .allMatch(component -> component.status().equals(DriverComponent.READY));
  }

  private static String state(ObservedStatus observed, List<DriverComponent> components) {
    if (observed.mode() == ObservedStatus.Mode.UNMANAGED) {
      return allReady(components) ? UNMANAGED : sentences(UNMANAGED, notReady(components));
    }
    return allReady(components) ? ALL_DEPLOYED : notReady(components);
  }

  @Override
  public Readiness readiness(PmemCSIDeploymentStatus status) {
    String message = Objects.requireNonNullElse(status.reason(), "");
    boolean unmanaged = status.phaseOrNew().equals(PHASE_UNMANAGED);
    if (status.phaseOrNew().equals(PHASE_RUNNING)
        || (unmanaged && allReady(status.driverComponents()))) {
      return Readiness.ready(status.phaseOrNew(), message);
    }
    return status
        .condition(PmemCondition.DELETION_HELD.type())
        .map(held -> Readiness.notReady(Hold.REASON, message))
        .orElseGet(() -> Readiness.notReady(phaseOrPending(status), message));
  }

  private static String phaseOrPending(PmemCSIDeploymentStatus status) {
    return status.phaseOrNew().isEmpty() ? "Pending" : status.phaseOrNew();
  }

  @Override
  public PmemCSIDeploymentStatus withReady(
      PmemCSIDeploymentStatus status, Readiness readiness, long generation, Instant now) {
    List<DeploymentCondition> conditions =
        Conditions.with(
            status.conditions(),
            DeploymentCondition.ready(
                readiness.status(), readiness.reason(), readiness.message(), generation),
            now);
    return conditions.equals(status.conditions()) ? status : status.with(conditions, now);
  }

  @Override
  public List<EventMessage> events(PmemCSIDeploymentStatus previous, PmemCSIDeploymentStatus next) {
    return PmemEventMessages.of(previous, next);
  }

  @Override
  public String dedupKey(PmemCSIDeploymentStatus previous) {
    return String.valueOf(previous.lastUpdated());
  }

  @Override
  public String phase(PmemCSIDeploymentStatus status) {
    return status.phaseOrNew();
  }

  @Override
  public Optional<Instant> certificateExpires(PmemCSIDeploymentStatus status) {
    return Optional.ofNullable(status.certificateExpires());
  }

  private static String notReady(List<DriverComponent> components) {
    return components.stream()
        .filter(component -> !component.status().equals(DriverComponent.READY))
        .map(component -> String.valueOf(component.reason()))
        .reduce(PmemStatusMapper::sentences)
        .orElse("");
  }

  /** Reasons are sentences with or without a full stop, or end with a quotation. */
  private static String sentences(String first, String second) {
    return first + (first.endsWith(".") || first.endsWith("…") ? " " : ". ") + second;
  }

  private static List<DriverComponent> components(
      PmemCSIDeploymentStatus previous, ObservedStatus observed, Instant now) {
    if (observed.components().isEmpty()) {
      return previous.driverComponents();
    }
    return observed.components().stream()
        .map(ComponentState::shown)
        .map(
            component ->
                previous
                    .component(component.component())
                    .filter(component::equalsIgnoringTime)
                    .orElseGet(() -> component.at(now)))
        .toList();
  }

  private static List<DeploymentCondition> conditions(
      PmemCSIDeploymentStatus previous, ObservedStatus observed, Instant now) {
    return Conditions.merge(
        previous.conditions(),
        observed.conditions(),
        old -> observed.failure().isEmpty() && hasEnded(old, observed),
        now);
  }

  private static boolean hasEnded(DeploymentCondition old, ObservedStatus observed) {
    return PmemCondition.of(old)
        .filter(
            condition ->
                switch (condition.lifetime()) {
                  case PERMANENT -> false;
                  case WHILE_NAMED ->
                      !observed.components().isEmpty()
                          && observed.mode() != ObservedStatus.Mode.UNMANAGED;
                  case WHILE_OBSERVED -> observed.lostNodes().isPresent();
                  case WHILE_TRUE -> true;
                })
        .isPresent();
  }
}
