package io.pmemcsi.operator.kinds.template;

import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.TemplateSettings;
import io.pmemcsi.operator.deletion.DeletionDecision;
import io.pmemcsi.operator.deletion.DeletionGuard;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What is in the way of a good resource before anything is written for it. */
record Blockers(DeletionGuard guard, TemplateEventSources watches) {

  /**
   * Something that has to go first.
   *
   * @param again when to look whether it has gone, if that is known
   * @param needed the name of a driver that must not go yet
   */
  record Obstacle(
      String reason, String message, Optional<Duration> again, Optional<String> needed) {}

  Optional<Obstacle> find(
      CSIDriverDeployment resource,
      TemplateSettings settings,
      OperatorConfig config,
      Context<CSIDriverDeployment> context) {
    List<String> conflicts = conflicts(resource, settings, config, context);
    if (!conflicts.isEmpty()) {
      return Optional.of(
          new Obstacle(
              "Conflict", String.join("\n", conflicts), Optional.empty(), Optional.empty()));
    }
    return formerDriverInUse(resource, settings, context);
  }

  private List<String> conflicts(
      CSIDriverDeployment resource,
      TemplateSettings settings,
      OperatorConfig config,
      Context<CSIDriverDeployment> context) {
    List<CSIDriverDeployment> rivals = watches.rivals(resource, context);
    var conflicts = new Conflicts(config, watches.holders(context));
    conflicts.losers(resource, rivals).stream()
        .filter(loser -> !TemplateEventSources.isInConflict(loser))
        .filter(loser -> loser.getMetadata().getDeletionTimestamp() == null)
        .filter(loser -> !TemplateReconciler.isUnmanaged(loser))
        .forEach(watches::wake);
    return conflicts.of(
        resource, rivals, TemplateEventSources.pmem(settings.driver().value(), context));
  }

  /** Another name for a driver is the end of the one before, which volumes may need. */
  private Optional<Obstacle> formerDriverInUse(
      CSIDriverDeployment resource,
      TemplateSettings settings,
      Context<CSIDriverDeployment> context) {
    return new InstalledObjects(resource, context)
        .drivers().endingFor(settings.driver().value()).stream()
            .flatMap(driver -> inUse(resource, driver).stream())
            .findFirst();
  }

  private Optional<Obstacle> inUse(CSIDriverDeployment resource, String driver) {
    return switch (guard.decide(resource, resource.getSpec().deletionPolicy(), driver)) {
      case DeletionDecision.Allow() -> Optional.empty();
      case DeletionDecision.Hold hold ->
          Optional.of(
              new Obstacle(
                  "DriverInUse",
                  renamed(resource, hold),
                  Optional.of(hold.requeueAfter()),
                  Optional.of(driver)));
    };
  }

  static String renamed(CSIDriverDeployment resource, DeletionDecision.Hold former) {
    return "driverName cannot change to %s yet. %s"
        .formatted(resource.getSpec().driverName(), former.message());
  }
}
