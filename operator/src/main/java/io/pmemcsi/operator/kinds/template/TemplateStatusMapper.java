package io.pmemcsi.operator.kinds.template;

import static io.pmemcsi.api.template.CSIDriverDeploymentStatus.STATE_MANAGED;
import static io.pmemcsi.operator.kinds.template.TemplateCondition.AVAILABLE;
import static io.pmemcsi.operator.kinds.template.TemplateCondition.DELETION_HELD;
import static io.pmemcsi.operator.kinds.template.TemplateCondition.SYNC_SUCCESSFUL;

import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.controller.Conditions;
import io.pmemcsi.operator.controller.EventMessage;
import io.pmemcsi.operator.controller.StatusMapper;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
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
    return new Conditions<>(
            DriverCondition::type,
            condition -> condition.at(now),
            (old, condition) -> condition.at(transition(old, condition, now)))
        .merge(
            previous.conditions(),
            observed.conditions(),
            old -> observed.released() && DELETION_HELD.is(old));
  }

  /** The time is that of the last change of the status, not of reason or message. */
  private static Instant transition(DriverCondition old, DriverCondition condition, Instant now) {
    return old.status().equals(condition.status())
        ? Objects.requireNonNullElse(old.lastTransitionTime(), now)
        : now;
  }
}
