package io.pmemcsi.operator.pmemdriver;

import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_FAILED;
import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_INITIALIZING;
import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_RUNNING;

import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.controller.Conditions;
import io.pmemcsi.operator.controller.EventMessage;
import io.pmemcsi.operator.controller.StatusMapper;
import java.time.Instant;
import java.util.List;

/** From the previous status and what was observed to the next status and its events. */
public final class PmemStatusMapper implements StatusMapper<PmemCSIDeploymentStatus> {

  static final String ALL_DEPLOYED = "All driver components are deployed successfully";

  static PmemCSIDeploymentStatus next(
      PmemCSIDeploymentStatus previous, ObservedStatus observed, Instant now) {
    List<DriverComponent> components = components(previous, observed, now);
    boolean ready =
        observed.notDeployed().isEmpty()
            && !components.isEmpty()
            && components.stream()
                .allMatch(component -> component.status().equals(DriverComponent.READY));
    String phase =
        observed.failure().isPresent() ? PHASE_FAILED : ready ? PHASE_RUNNING : PHASE_INITIALIZING;
    String reason =
        observed
            .failure()
            .or(observed::notDeployed)
            .orElseGet(() -> ready ? ALL_DEPLOYED : notReady(components));
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
            observed.failure().isPresent()
                ? previous.certificateExpires()
                : observed.certificateExpires().orElse(null),
            previous.lastUpdated());
    return next.equals(previous) ? previous : updated(next, now);
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

  private static PmemCSIDeploymentStatus updated(PmemCSIDeploymentStatus status, Instant now) {
    return new PmemCSIDeploymentStatus(
        status.phase(),
        status.reason(),
        status.observedGeneration(),
        status.conditions(),
        status.driverComponents(),
        status.unpreparedNodes(),
        status.certificateExpires(),
        now);
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
                    .filter(component::saysTheSameAs)
                    .orElseGet(() -> component.at(now)))
        .toList();
  }

  private static List<DeploymentCondition> conditions(
      PmemCSIDeploymentStatus previous, ObservedStatus observed, Instant now) {
    return new Conditions<>(
            DeploymentCondition::type,
            condition -> condition.at(now),
            (old, condition) -> condition.saysTheSameAs(old) ? old : condition.at(now))
        .merge(
            previous.conditions(),
            observed.conditions(),
            old -> observed.failure().isEmpty() && hasEnded(old, observed));
  }

  private static boolean hasEnded(DeploymentCondition old, ObservedStatus observed) {
    return PmemCondition.of(old)
        .filter(
            condition ->
                switch (condition.lifetime()) {
                  case PERMANENT -> false;
                  case WHILE_NAMED -> !observed.components().isEmpty();
                  case WHILE_TRUE -> true;
                })
        .isPresent();
  }
}
