package io.pmemcsi.operator.kinds.pmem;

import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_FAILED;
import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_INITIALIZING;
import static io.pmemcsi.api.pmem.PmemCSIDeploymentStatus.PHASE_RUNNING;

import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.controller.StatusPublisher;
import io.pmemcsi.operator.deletion.DeletionDecision;
import io.pmemcsi.operator.events.EventMessage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** From the last status and what was found now to the next status. */
final class PmemStatus
    implements StatusPublisher.StatusMapper<PmemCSIDeploymentStatus, ObservedStatus> {

  static final String ALL_DEPLOYED = "All driver components are deployed successfully";

  private static final Set<String> CERTIFICATES =
      Set.of(DeploymentCondition.CERTS_READY, DeploymentCondition.CERTS_VERIFIED);

  /** Shown only while they last. */
  private static final Set<String> PASSING =
      Set.of(DeletionDecision.Hold.CONDITION, ObservedStatus.CONTESTED);

  @Override
  public PmemCSIDeploymentStatus next(
      PmemCSIDeploymentStatus previous, ObservedStatus found, Instant now) {
    List<DriverComponent> components = components(previous, found, now);
    boolean ready =
        found.notDeployed().isEmpty()
            && !components.isEmpty()
            && components.stream().allMatch(part -> part.status().equals(DriverComponent.READY));
    String phase =
        found.failure().isPresent() ? PHASE_FAILED : ready ? PHASE_RUNNING : PHASE_INITIALIZING;
    String reason =
        found
            .failure()
            .or(found::notDeployed)
            .orElseGet(() -> ready ? ALL_DEPLOYED : waitingFor(components));
    var next =
        new PmemCSIDeploymentStatus(
            phase,
            reason,
            found.generation(),
            conditions(previous, found, now),
            components,
            found.components().isEmpty() ? previous.unpreparedNodes() : found.unpreparedNodes(),
            found.failure().isPresent()
                ? previous.certificateExpires()
                : found.certificateExpires().orElse(null),
            previous.lastUpdated());
    return next.equals(previous) ? previous : updated(next, now);
  }

  @Override
  public List<EventMessage> announcements(
      PmemCSIDeploymentStatus previous, PmemCSIDeploymentStatus next) {
    return PmemEventMessages.of(previous, next);
  }

  @Override
  public String occasion(PmemCSIDeploymentStatus previous) {
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

  private static String waitingFor(List<DriverComponent> components) {
    return components.stream()
        .filter(part -> !part.status().equals(DriverComponent.READY))
        .map(part -> String.valueOf(part.reason()))
        .reduce(PmemStatus::sentences)
        .orElse("");
  }

  /** Reasons are short texts without a full stop, whole sentences, or end in words of others. */
  private static String sentences(String first, String second) {
    return first + (first.endsWith(".") || first.endsWith("…") ? " " : ". ") + second;
  }

  private static List<DriverComponent> components(
      PmemCSIDeploymentStatus previous, ObservedStatus found, Instant now) {
    if (found.components().isEmpty()) {
      return previous.driverComponents();
    }
    return found.components().stream()
        .map(
            part ->
                previous
                    .component(part.component())
                    .filter(part::saysTheSameAs)
                    .orElseGet(() -> part.at(now)))
        .toList();
  }

  /** Nothing is said about certificates that the resource no longer names, or what has ended. */
  private static boolean isOver(DeploymentCondition old, ObservedStatus found) {
    boolean ends =
        PASSING.contains(old.type())
            || (CERTIFICATES.contains(old.type()) && !found.components().isEmpty());
    return ends
        && found.failure().isEmpty()
        && found.conditions().stream().noneMatch(now -> now.type().equals(old.type()));
  }

  private static List<DeploymentCondition> conditions(
      PmemCSIDeploymentStatus previous, ObservedStatus found, Instant now) {
    var result = new ArrayList<DeploymentCondition>();
    for (DeploymentCondition old : previous.conditions()) {
      if (isOver(old, found)) {
        continue;
      }
      result.add(
          found.conditions().stream()
              .filter(condition -> condition.type().equals(old.type()))
              .findFirst()
              .filter(condition -> !condition.saysTheSameAs(old))
              .map(condition -> condition.at(now))
              .orElse(old));
    }
    for (DeploymentCondition condition : found.conditions()) {
      if (previous.condition(condition.type()).isEmpty()) {
        result.add(condition.at(now));
      }
    }
    return result;
  }
}
