package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.pmemcsi.api.template.Child;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.controller.WorkloadState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Whether every wanted pod of the current generation is ready.
 *
 * @param nodes the driver on the nodes
 * @param controller its controller
 * @param hasController whether there shall be one
 */
record Availability(
    Optional<DaemonSet> nodes, Optional<Deployment> controller, boolean hasController) {

  private record Lack(String reason, String message) {}

  DriverCondition condition() {
    var lacks = new ArrayList<Lack>();
    if (hasController) {
      ofController().ifPresent(lacks::add);
    }
    ofNodes().ifPresent(lacks::add);
    return lacks.isEmpty()
        ? TemplateObservedStatus.condition(
            DriverCondition.AVAILABLE, true, "Ready", "All driver pods are ready.")
        : TemplateObservedStatus.condition(
            DriverCondition.AVAILABLE,
            false,
            lacks.getFirst().reason(),
            lacks.stream().map(Lack::message).collect(Collectors.joining("\n")));
  }

  /** In the documented order. */
  List<Child> children() {
    var result = new ArrayList<Child>();
    nodes.ifPresent(
        object ->
            result.add(
                new Child(
                    "apps",
                    "DaemonSet",
                    object.getMetadata().getNamespace(),
                    object.getMetadata().getName(),
                    object.getMetadata().getGeneration())));
    controller
        .filter(any -> hasController)
        .ifPresent(
            object ->
                result.add(
                    new Child(
                        "apps",
                        "Deployment",
                        object.getMetadata().getNamespace(),
                        object.getMetadata().getName(),
                        object.getMetadata().getGeneration())));
    return result;
  }

  private Optional<Lack> ofNodes() {
    Optional<WorkloadState> counted = nodes.flatMap(WorkloadState::of);
    if (counted.isEmpty()) {
      return lack("NotStarted", "The DaemonSet of the driver has not started yet.");
    }
    WorkloadState pods = counted.get();
    if (pods.wanted() == 0) {
      return lack(
          "NoNodes",
          "No node fits the node selector, affinity and tolerations of driverPerNodeTemplate.");
    }
    if (pods.ready() < pods.wanted()) {
      return lack(
          "NotReady",
          "%d of %d driver pods on nodes are ready.".formatted(pods.ready(), pods.wanted()));
    }
    return pods.updated() < pods.wanted()
        ? lack(
            "OutdatedNodes",
            "%d of %d driver pods on nodes still run the previous revision."
                .formatted(pods.wanted() - pods.updated(), pods.wanted()))
        : Optional.empty();
  }

  private Optional<Lack> ofController() {
    Optional<WorkloadState> counted = controller.flatMap(WorkloadState::of);
    if (counted.isEmpty()) {
      return lack("NotStarted", "The Deployment of the controller has not started yet.");
    }
    WorkloadState pods = counted.get();
    if (pods.ready() < pods.wanted()) {
      return lack(
          "NotReady", "%d of %d controller pods are ready.".formatted(pods.ready(), pods.wanted()));
    }
    return pods.updated() < pods.wanted() || pods.total() > pods.wanted()
        ? lack(
            "Updating",
            "The controller is being updated: %d of its %d pods are of the current revision."
                .formatted(pods.updated(), pods.total()))
        : Optional.empty();
  }

  private static Optional<Lack> lack(String reason, String message) {
    return Optional.of(new Lack(reason, message));
  }
}
