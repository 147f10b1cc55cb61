package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.facts.Refusal;
import io.pmemcsi.operator.facts.RequeuePeriods;
import io.pmemcsi.operator.rollout.draining.NodeUpdatePlan;
import io.pmemcsi.operator.rollout.draining.NodeUpdates;
import io.pmemcsi.operator.rollout.draining.UpdateRequest;
import java.util.Optional;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Moves the update of a driver's nodes forward, or pauses it. */
record TemplateRollout(InstalledObjects objects, NodeUpdates updates) {

  private static final Logger LOG = LoggerFactory.getLogger(TemplateRollout.class);

  TemplateRunning advance() {
    CSIDriverDeployment resource = objects.resource();
    Optional<NodeUpdates.Progress> progress =
        objects
            .update()
            .map(resource.isMarkedForDeletion() ? updates::planRelease : updates::plan)
            .map(updates::execute);
    return TemplateRunning.of(objects.availability(resource.getSpec().hasController()), progress);
  }

  /** Nodes in progress are completed; an error there must not hide the problem. */
  TemplateRunning pause(Problem problem) {
    CSIDriverDeployment resource = objects.resource();
    String why = TemplateReason.of(problem.cause()).text() + ": " + problem.message();
    Function<UpdateRequest, NodeUpdatePlan> plan =
        resource.isMarkedForDeletion()
            ? updates::planRelease
            : update -> updates.planPaused(update, why);
    try {
      if (objects.daemonSet().isEmpty()) {
        updates.release(resource);
      }
      return TemplateRunning.of(
          objects.availability(), objects.update().map(plan).map(updates::execute));
    } catch (KubernetesClientException e) {
      LOG.atWarn()
          .addKeyValue("namespace", resource.getMetadata().getNamespace())
          .addKeyValue("name", resource.getMetadata().getName())
          .addKeyValue("cause", Refusal.reason(e))
          .log("The update of the nodes cannot continue now and is retried.");
      // no event would trigger it, and a node may be cordoned
      return new TemplateRunning(
          objects.cachedAvailability(),
          Optional.empty(),
          Optional.of(RequeuePeriods.DEFAULT.soon()));
    }
  }
}
