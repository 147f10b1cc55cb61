package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.pmemcsi.api.Choice;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentSpec;
import io.pmemcsi.api.template.Draining;
import io.pmemcsi.api.template.NodeUpdateStrategy;
import io.pmemcsi.operator.controller.ClusterReader;
import io.pmemcsi.operator.controller.WorkloadProblem;
import io.pmemcsi.operator.rollout.draining.UpdateRequest;
import java.util.Optional;

/** The objects of one resource, even where it describes others by now. */
record InstalledObjects(CSIDriverDeployment resource, ClusterReader<CSIDriverDeployment> cluster) {

  InstalledDrivers drivers() {
    return InstalledDrivers.of(cluster.owned(CSIDriver.class), daemonSet());
  }

  /** The installed driver: the resource may name another one by now. */
  private String driver() {
    return drivers().current().orElseGet(() -> String.valueOf(resource.getSpec().driverName()));
  }

  Optional<DaemonSet> daemonSet() {
    return cluster.owned(
        DaemonSet.class, TemplateDriver.nodeWorkload(resource.getMetadata().getName()));
  }

  Optional<Deployment> controller() {
    return cluster.owned(
        Deployment.class, TemplateDriver.controllerWorkload(resource.getMetadata().getName()));
  }

  Availability availability(boolean hasController) {
    return Availability.of(daemonSet(), controller(), hasController, this::problem);
  }

  /** From caches alone: the server may be what failed. */
  Availability cachedAvailability() {
    return Availability.of(
        daemonSet(), controller(), controller().isPresent(), _ -> Optional.empty());
  }

  /** Read when needed: a cache of the pods of thousands of nodes would be big. */
  private Optional<String> problem(HasMetadata workload) {
    String label =
        workload instanceof DaemonSet ? TemplateDriver.NODE_LABEL : TemplateDriver.CONTROLLER_LABEL;
    return WorkloadProblem.of(
        workload,
        cluster
            .client()
            .pods()
            .inNamespace(resource.getMetadata().getNamespace())
            .withLabel(label, workload.getMetadata().getName())
            .list()
            .getItems(),
        cluster.client());
  }

  /** Where the desired state is unknown, what exists decides. */
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
}
