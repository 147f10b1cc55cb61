package io.pmemcsi.operator.kinds.template;

import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.controller.ClusterReader;
import io.pmemcsi.operator.controller.DriverStatus;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.controller.StatusMapper;
import io.pmemcsi.operator.controller.StatusUpdate;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import io.pmemcsi.operator.rollout.draining.NodeUpdatePlan;
import io.pmemcsi.operator.rollout.draining.NodeUpdates;
import java.time.Instant;
import java.util.Optional;

/**
 * How a driver from a template is reported.
 *
 * @param nodeUpdates empty where nothing is rolled out, as in a preview
 */
record TemplateStatus(Optional<NodeUpdates> nodeUpdates)
    implements DriverStatus<
        CSIDriverDeployment, CSIDriverDeploymentStatus, TemplatePlan, TemplateRunning> {

  @Override
  public StatusMapper<CSIDriverDeploymentStatus> mapper() {
    return new TemplateStatusMapper();
  }

  @Override
  public StatusUpdate<CSIDriverDeploymentStatus> deployed(
      CSIDriverDeployment resource,
      TemplatePlan plan,
      TemplateRunning running,
      Optional<Problem> problem,
      Optional<Hold> hold) {
    long generation = resource.getMetadata().getGeneration();
    TemplateObservedStatus status =
        problem
            .map(one -> TemplateObservedStatus.failed(generation, running, one))
            .orElseGet(() -> TemplateObservedStatus.synced(generation, running, plan.missingApi()));
    return hold.map(status::held).orElse(status);
  }

  @Override
  public StatusUpdate<CSIDriverDeploymentStatus> unmanaged(
      CSIDriverDeployment resource, ClusterReader<CSIDriverDeployment> cluster) {
    var objects = new InstalledObjects(resource, cluster);
    return TemplateObservedStatus.unmanaged(
        resource.getMetadata().getGeneration(),
        new TemplateRunning(
            objects.availability(resource.getSpec().hasController()),
            nodeUpdates.flatMap(
                updates -> objects.update().map(updates::planRelease).map(NodeUpdatePlan::status)),
            Optional.empty()));
  }

  @Override
  public StatusUpdate<CSIDriverDeploymentStatus> removing(
      CSIDriverDeployment resource, Optional<Problem> problem) {
    return TemplateObservedStatus.removing(resource.getMetadata().getGeneration(), problem);
  }

  @Override
  public StatusUpdate<CSIDriverDeploymentStatus> failed(
      CSIDriverDeployment resource, Problem problem, ClusterReader<CSIDriverDeployment> cluster) {
    if (!TemplateDecision.isManaged(resource) && !resource.isMarkedForDeletion()) {
      return TemplateObservedStatus.unreadable(resource.getMetadata().getGeneration(), problem);
    }
    TemplateObservedStatus status =
        TemplateObservedStatus.failed(
            resource.getMetadata().getGeneration(),
            TemplateRunning.of(
                new InstalledObjects(resource, cluster).cachedAvailability(), Optional.empty()),
            problem);
    return resource.isMarkedForDeletion() ? status.inDeletion() : status;
  }

  @Override
  public Optional<Instant> problemSince(CSIDriverDeploymentStatus status) {
    return status
        .condition(TemplateCondition.SYNC_SUCCESSFUL.type())
        .filter(TemplateCondition::isFalse)
        .map(DriverCondition::lastTransitionTime);
  }
}
