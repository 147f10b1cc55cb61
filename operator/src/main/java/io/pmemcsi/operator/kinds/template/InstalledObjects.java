package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.pmemcsi.api.Choice;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentSpec;
import io.pmemcsi.api.template.Draining;
import io.pmemcsi.api.template.NodeUpdateStrategy;
import io.pmemcsi.operator.rollout.draining.UpdateRequest;
import java.util.Optional;

/** The objects of one resource as the caches have them, whatever the resource says by now. */
record InstalledObjects(CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {

  InstalledDrivers drivers() {
    return InstalledDrivers.of(
        context.getSecondaryResourcesAsStream(CSIDriver.class).toList(), daemonSet());
  }

  /** Of the driver that is installed: the resource may name another one by now. */
  private String driver() {
    return drivers().current().orElseGet(() -> String.valueOf(resource.getSpec().driverName()));
  }

  Optional<DaemonSet> daemonSet() {
    return find(DaemonSet.class, TemplateDriver.nodeWorkload(resource.getMetadata().getName()));
  }

  Optional<Deployment> controller() {
    return find(
        Deployment.class, TemplateDriver.controllerWorkload(resource.getMetadata().getName()));
  }

  Availability availability(boolean hasController) {
    return new Availability(daemonSet(), controller(), hasController);
  }

  /** Where nobody knows what is wanted, it is judged by what is there. */
  Availability availability() {
    return availability(controller().isPresent());
  }

  /** The update of the nodes, also for a resource that is wrong in some other place. */
  Optional<UpdateRequest> update() {
    CSIDriverDeploymentSpec spec = resource.getSpec();
    return daemonSet()
        .filter(found -> found.getStatus() != null)
        .map(
            found ->
                UpdateRequest.of(
                    resource,
                    driver(),
                    Optional.ofNullable(spec.nodeUpdateStrategy())
                        .map(
                            written ->
                                Choice.find(NodeUpdateStrategy.class, written)
                                    .orElseGet(() -> strategy(found)))
                        .orElse(NodeUpdateStrategy.ROLLING),
                    Optional.ofNullable(spec.draining()).orElse(Draining.DEFAULT),
                    found));
  }

  private static NodeUpdateStrategy strategy(DaemonSet daemonSet) {
    var strategy = daemonSet.getSpec().getUpdateStrategy();
    return strategy != null && "OnDelete".equals(strategy.getType())
        ? NodeUpdateStrategy.DRAINING
        : NodeUpdateStrategy.ROLLING;
  }

  private <R extends HasMetadata> Optional<R> find(Class<R> kind, String name) {
    return context
        .getSecondaryResourcesAsStream(kind)
        .filter(object -> object.getMetadata().getName().equals(name))
        .findFirst();
  }
}
