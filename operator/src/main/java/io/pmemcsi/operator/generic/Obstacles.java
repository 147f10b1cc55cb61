package io.pmemcsi.operator.generic;

import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.pmemcsi.api.generic.CSIDriverDeployment;
import io.pmemcsi.api.generic.GenericSettings;
import io.pmemcsi.operator.guard.DeletionDecision;
import io.pmemcsi.operator.guard.DeletionGuard;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What is in the way of a good resource before anything is written for it. */
record Obstacles(DeletionGuard guard, GenericWatches watches) {

  /**
   * Something that has to go first.
   *
   * @param again when to look whether it has gone, if that is known
   */
  record Obstacle(String reason, String message, Optional<Duration> again) {}

  Optional<Obstacle> find(
      CSIDriverDeployment resource,
      GenericSettings settings,
      OperatorConfig config,
      Context<CSIDriverDeployment> context) {
    List<String> conflicts = conflicts(resource, settings, config, context);
    if (!conflicts.isEmpty()) {
      return Optional.of(new Obstacle("Conflict", String.join("\n", conflicts), Optional.empty()));
    }
    return formerDriverInUse(resource, settings, context)
        .map(
            former ->
                new Obstacle(
                    "DriverInUse", renamed(resource, former), Optional.of(former.again())));
  }

  private List<String> conflicts(
      CSIDriverDeployment resource,
      GenericSettings settings,
      OperatorConfig config,
      Context<CSIDriverDeployment> context) {
    List<CSIDriverDeployment> rivals = watches.rivals(resource, context);
    var conflicts = new Conflicts(config, watches.holders(context));
    conflicts.losers(resource, rivals).stream()
        .filter(loser -> !GenericWatches.isInConflict(loser))
        .filter(loser -> loser.getMetadata().getDeletionTimestamp() == null)
        .filter(loser -> !GenericReconciler.isUnmanaged(loser))
        .forEach(watches::wake);
    return conflicts.of(resource, rivals, GenericWatches.pmem(settings.driver().value(), context));
  }

  /** Another name for a driver is the end of the one before, which volumes may need. */
  private Optional<DeletionDecision.Hold> formerDriverInUse(
      CSIDriverDeployment resource,
      GenericSettings settings,
      Context<CSIDriverDeployment> context) {
    return new InstalledObjects(resource, context)
        .drivers().endingFor(settings.driver().value()).stream()
            .map(driver -> guard.decide(resource, resource.getSpec().deletionPolicy(), driver))
            .filter(DeletionDecision.Hold.class::isInstance)
            .map(DeletionDecision.Hold.class::cast)
            .findFirst();
  }

  static String renamed(CSIDriverDeployment resource, DeletionDecision.Hold former) {
    return "driverName cannot change to %s yet. %s"
        .formatted(resource.getSpec().driverName(), former.message());
  }
}
