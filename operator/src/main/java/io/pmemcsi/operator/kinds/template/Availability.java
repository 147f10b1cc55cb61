package io.pmemcsi.operator.kinds.template;

import static io.pmemcsi.operator.kinds.template.TemplateCondition.AVAILABLE;

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
 * Whether every desired pod of the current generation is ready.
 *
 * @param nodes the driver on the nodes
 * @param controller its controller
 * @param hasController whether one is desired
 */
record Availability(
    Optional<DaemonSet> nodes, Optional<Deployment> controller, boolean hasController) {

  private record Shortfall(TemplateReason reason, String message) {}

  DriverCondition condition() {
    var shortfalls = new ArrayList<Shortfall>();
    if (hasController) {
      ofController().ifPresent(shortfalls::add);
    }
    ofNodes().ifPresent(shortfalls::add);
    return shortfalls.isEmpty()
        ? AVAILABLE.isTrue(TemplateReason.READY, "All driver pods are ready.")
        : AVAILABLE.isFalse(
            shortfalls.getFirst().reason(),
            shortfalls.stream().map(Shortfall::message).collect(Collectors.joining("\n")));
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

  private Optional<Shortfall> ofNodes() {
    Optional<WorkloadState> counted = nodes.flatMap(WorkloadState::of);
    if (counted.isEmpty()) {
      return shortfall(
          TemplateReason.NOT_STARTED, "The DaemonSet of the driver has not started yet.");
    }
    WorkloadState pods = counted.get();
    if (pods.desired() == 0) {
      return shortfall(
          TemplateReason.NO_NODES,
          "No node fits the node selector, affinity and tolerations of driverPerNodeTemplate.");
    }
    if (pods.ready() < pods.desired()) {
      return shortfall(
          TemplateReason.NOT_READY,
          "%d of %d driver pods on nodes are ready.".formatted(pods.ready(), pods.desired()));
    }
    return pods.updated() < pods.desired()
        ? shortfall(
            TemplateReason.OUTDATED_NODES,
            "%d of %d driver pods on nodes still run the previous revision."
                .formatted(pods.desired() - pods.updated(), pods.desired()))
        : Optional.empty();
  }

  private Optional<Shortfall> ofController() {
    Optional<WorkloadState> counted = controller.flatMap(WorkloadState::of);
    if (counted.isEmpty()) {
      return shortfall(
          TemplateReason.NOT_STARTED, "The Deployment of the controller has not started yet.");
    }
    WorkloadState pods = counted.get();
    if (pods.ready() < pods.desired()) {
      return shortfall(
          TemplateReason.NOT_READY,
          "%d of %d controller pods are ready.".formatted(pods.ready(), pods.desired()));
    }
    return pods.updated() < pods.desired() || pods.total() > pods.desired()
        ? shortfall(
            TemplateReason.UPDATING,
            "The controller is being updated: %d of its %d pods are of the current revision."
                .formatted(pods.updated(), pods.total()))
        : Optional.empty();
  }

  private static Optional<Shortfall> shortfall(TemplateReason reason, String message) {
    return Optional.of(new Shortfall(reason, message));
  }
}
