package io.pmemcsi.operator.kinds.template;

import static io.pmemcsi.api.template.CSIDriverDeploymentStatus.STATE_MANAGED;
import static io.pmemcsi.api.template.CSIDriverDeploymentStatus.STATE_UNMANAGED;
import static io.pmemcsi.operator.kinds.template.TemplateCondition.AVAILABLE;
import static io.pmemcsi.operator.kinds.template.TemplateCondition.DELETION_HELD;
import static io.pmemcsi.operator.kinds.template.TemplateCondition.SYNC_SUCCESSFUL;

import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.controller.Conditions;
import io.pmemcsi.operator.controller.EventMessage;
import io.pmemcsi.operator.controller.Readiness;
import io.pmemcsi.operator.controller.StatusMapper;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** From the previous status and what was observed to the next status and its events. */
final class TemplateStatusMapper implements StatusMapper<CSIDriverDeploymentStatus> {

  static CSIDriverDeploymentStatus next(
      CSIDriverDeploymentStatus previous, TemplateObservedStatus observed, Instant now) {
    return new CSIDriverDeploymentStatus(
        observed.complete() ? Long.valueOf(observed.generation()) : previous.observedGeneration(),
        observed.children().orElse(previous.children()),
        observed.state(),
        conditions(previous, observed, now),
        observed.nodeUpdate().orElse(previous.nodeUpdate()));
  }

  /** Nothing is applied for a driver that is not managed, so only its pods count. */
  @Override
  public Readiness readiness(CSIDriverDeploymentStatus status) {
    Optional<DriverCondition> held = status.condition(DELETION_HELD.type());
    if (held.isPresent()) {
      return notReady(held);
    }
    if (!STATE_UNMANAGED.equals(status.state()) && !SYNC_SUCCESSFUL.isTrueIn(status)) {
      return notReady(status.condition(SYNC_SUCCESSFUL.type()));
    }
    Optional<DriverCondition> available = status.condition(AVAILABLE.type());
    return AVAILABLE.isTrueIn(status)
        ? Readiness.ready(reason(available), message(available))
        : notReady(available);
  }

  private static Readiness notReady(Optional<DriverCondition> because) {
    return Readiness.notReady(reason(because), message(because));
  }

  private static String reason(Optional<DriverCondition> condition) {
    return condition.map(DriverCondition::reason).orElse("Pending");
  }

  private static String message(Optional<DriverCondition> condition) {
    return condition.map(DriverCondition::message).orElse("");
  }

  @Override
  public CSIDriverDeploymentStatus withReady(
      CSIDriverDeploymentStatus status, Readiness readiness, long generation, Instant now) {
    return status.with(
        Conditions.with(
            status.conditions(),
            DriverCondition.ready(
                readiness.status(), readiness.reason(), readiness.message(), generation),
            now));
  }

  @Override
  public List<EventMessage> events(
      CSIDriverDeploymentStatus previous, CSIDriverDeploymentStatus next) {
    return TemplateEventMessages.of(previous, next);
  }

  @Override
  public String dedupKey(CSIDriverDeploymentStatus previous) {
    return previous.observedGeneration()
        + previous.conditions().stream()
            .map(condition -> " " + condition.lastTransitionTime())
            .collect(Collectors.joining());
  }

  @Override
  public String phase(CSIDriverDeploymentStatus status) {
    if (!STATE_MANAGED.equals(status.state())) {
      return String.valueOf(status.state());
    }
    if (SYNC_SUCCESSFUL.isFalseIn(status)) {
      return "Failed";
    }
    return AVAILABLE.isTrueIn(status) ? "Available" : "NotAvailable";
  }

  private static List<DriverCondition> conditions(
      CSIDriverDeploymentStatus previous, TemplateObservedStatus observed, Instant now) {
    return Conditions.merge(
        previous.conditions(),
        observed.conditions(),
        old -> observed.released() && DELETION_HELD.is(old),
        now);
  }
}
