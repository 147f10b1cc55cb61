package io.pmemcsi.operator.kinds.template;

import static io.pmemcsi.api.template.CSIDriverDeploymentStatus.STATE_MANAGED;

import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.controller.StatusPublisher;
import io.pmemcsi.operator.deletion.DeletionDecision;
import io.pmemcsi.operator.events.EventMessage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/** From the last status and what was found now to the next status. */
final class TemplateStatus
    implements StatusPublisher.StatusMapper<CSIDriverDeploymentStatus, TemplateObservedStatus> {

  @Override
  public CSIDriverDeploymentStatus next(
      CSIDriverDeploymentStatus previous, TemplateObservedStatus found, Instant now) {
    return new CSIDriverDeploymentStatus(
        found.complete() ? Long.valueOf(found.generation()) : previous.observedGeneration(),
        found.children().orElse(previous.children()),
        found.state(),
        conditions(previous, found, now),
        found.nodeUpdate().orElse(previous.nodeUpdate()));
  }

  @Override
  public List<EventMessage> announcements(
      CSIDriverDeploymentStatus previous, CSIDriverDeploymentStatus next) {
    return TemplateEventMessages.of(previous, next);
  }

  @Override
  public String occasion(CSIDriverDeploymentStatus previous) {
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
    if (is(status, DriverCondition.SYNC_SUCCESSFUL, TemplateObservedStatus.FALSE)) {
      return "Failed";
    }
    return is(status, DriverCondition.AVAILABLE, TemplateObservedStatus.TRUE)
        ? "Available"
        : "NotAvailable";
  }

  private static boolean is(CSIDriverDeploymentStatus status, String type, String value) {
    return status.condition(type).filter(one -> one.status().equals(value)).isPresent();
  }

  private static List<DriverCondition> conditions(
      CSIDriverDeploymentStatus previous, TemplateObservedStatus found, Instant now) {
    var result = new ArrayList<DriverCondition>();
    for (DriverCondition old : previous.conditions()) {
      if (found.released() && old.type().equals(DeletionDecision.Hold.CONDITION)) {
        continue;
      }
      result.add(
          found.conditions().stream()
              .filter(condition -> condition.type().equals(old.type()))
              .findFirst()
              .map(condition -> condition.at(since(old, condition, now)))
              .orElse(old));
    }
    for (DriverCondition condition : found.conditions()) {
      if (previous.condition(condition.type()).isEmpty()) {
        result.add(condition.at(now));
      }
    }
    return result;
  }

  /** The time is that of the last change of the status, not of the words around it. */
  private static Instant since(DriverCondition old, DriverCondition condition, Instant now) {
    return old.status().equals(condition.status())
        ? Objects.requireNonNullElse(old.lastTransitionTime(), now)
        : now;
  }
}
