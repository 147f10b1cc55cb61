package io.pmemcsi.operator.generic;

import io.pmemcsi.api.generic.CSIDriverDeploymentStatus;
import io.pmemcsi.api.generic.DriverCondition;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** From the last status and what was found now to the next status. */
final class GenericStatus {

  private GenericStatus() {}

  /** Equal to the one before if nothing changed, so that nothing is written. */
  static CSIDriverDeploymentStatus next(
      CSIDriverDeploymentStatus previous, GenericFindings found, Instant now) {
    return new CSIDriverDeploymentStatus(
        found.complete() ? Long.valueOf(found.generation()) : previous.observedGeneration(),
        found.children().orElse(previous.children()),
        found.state(),
        conditions(previous, found, now),
        found.nodeUpdate().orElse(previous.nodeUpdate()));
  }

  private static List<DriverCondition> conditions(
      CSIDriverDeploymentStatus previous, GenericFindings found, Instant now) {
    var result = new ArrayList<DriverCondition>();
    for (DriverCondition old : previous.conditions()) {
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
