package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.pmemcsi.api.ManagementState;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentChecks;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.controller.Plan.Action;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.controller.Problem.Cause;
import io.pmemcsi.operator.deletion.DeletionGuard;
import io.pmemcsi.operator.usage.DriverUsage;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Decides what a reconciliation does with a resource; no call leaves the process. */
record TemplateDecision(CSIDriverDeployment resource, TemplateObservation observed) {

  TemplatePlan plan() {
    List<Violation> violations =
        observed.facts().applicable(CSIDriverDeploymentChecks.check(resource));
    if (!violations.isEmpty()) {
      return invalid(violations.stream().map(Violation::message).collect(Collectors.joining("\n")));
    }
    TemplateDriver driver;
    DesiredState desired;
    try {
      driver = TemplateDriver.of(resource, observed.config(), observed.facts());
      desired = TemplateDesiredState.of(driver);
    } catch (IllegalArgumentException e) {
      return invalid(String.valueOf(e.getMessage()));
    }
    var conflicts = new Conflicts(observed.config(), observed.owners());
    List<Conflicts.Conflict> lost = conflicts.of(resource, observed.peers(), observed.sameDriver());
    return new TemplatePlan(
        lost.isEmpty() ? apply(driver, desired) : block(lost),
        triggers(conflicts),
        lost.stream().map(Conflicts.Conflict::winner).collect(Collectors.toSet()),
        driver.missingApi());
  }

  static boolean isManaged(CSIDriverDeployment resource) {
    return ManagementState.isManaged(resource.getSpec().managementState());
  }

  /** Whether this generation has not been deployed yet. */
  static boolean isNew(CSIDriverDeployment resource) {
    return !resource
        .getMetadata()
        .getGeneration()
        .equals(resource.getStatus().observedGeneration());
  }

  private static TemplatePlan invalid(String message) {
    return TemplatePlan.of(new Action.Block(new Problem(Cause.INVALID, message)));
  }

  private static Action block(List<Conflicts.Conflict> lost) {
    return new Action.Block(
        new Problem(
            Cause.CONFLICT,
            lost.stream().map(Conflicts.Conflict::message).collect(Collectors.joining("\n"))));
  }

  private Action apply(TemplateDriver driver, DesiredState desired) {
    return observed.formerDrivers().stream()
        .flatMap(former -> block(driver, former).stream())
        .findFirst()
        .orElseGet(
            () -> new Action.Apply(desired, object -> isNew(resource) && isFromTemplate(object)));
  }

  /** Another driver name ends the driver before, which volumes may need. */
  private static Optional<Action> block(TemplateDriver driver, DriverUsage former) {
    return DeletionGuard.hold(former, CSIDriverDeployment.FORCE_DELETION_ANNOTATION)
        .map(
            hold ->
                new Action.Block(
                    new Problem(
                        Cause.DRIVER_IN_USE,
                        "driverName cannot change to %s yet. %s"
                            .formatted(driver.driverName(), hold.message()),
                        Optional.of(hold.requeueAfter())),
                    // without it, kubelets and sidecars would treat the former driver wrongly
                    Optional.of(new DriverObject(driver).csiDriver(former.driver()))));
  }

  /** Resources that wait for a name of this one and do not know it yet. */
  private List<ResourceID> triggers(Conflicts conflicts) {
    return conflicts.conflictingPeers(resource, observed.peers()).stream()
        .filter(peer -> !peer.isMarkedForDeletion() && isManaged(peer))
        .map(ResourceID::fromResource)
        .filter(peer -> !observed.waitingPeers().contains(peer))
        .toList();
  }

  /** The server validates pod templates only in these. */
  private static boolean isFromTemplate(HasMetadata object) {
    return object instanceof DaemonSet || object instanceof Deployment;
  }
}
