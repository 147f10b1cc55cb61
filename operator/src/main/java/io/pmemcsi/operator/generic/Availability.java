package io.pmemcsi.operator.generic;

import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.pmemcsi.api.generic.Child;
import io.pmemcsi.api.generic.DriverCondition;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

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
        ? GenericFindings.condition(
            DriverCondition.AVAILABLE, true, "Ready", "All driver pods are ready.")
        : GenericFindings.condition(
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
    if (nodes.isEmpty() || nodes.get().getStatus() == null) {
      return lack("NotStarted", "The DaemonSet of the driver has not started yet.");
    }
    var status = nodes.get().getStatus();
    if (!seen(nodes.get().getMetadata().getGeneration(), status.getObservedGeneration())) {
      return lack("NotStarted", "The DaemonSet of the driver has not started yet.");
    }
    int wanted = number(status.getDesiredNumberScheduled());
    int ready = number(status.getNumberReady());
    int updated = number(status.getUpdatedNumberScheduled());
    if (wanted == 0) {
      return lack(
          "NoNodes",
          "No node fits the node selector, affinity and tolerations of driverPerNodeTemplate.");
    }
    if (ready < wanted) {
      return lack("NotReady", "%d of %d driver pods on nodes are ready.".formatted(ready, wanted));
    }
    return updated < wanted
        ? lack(
            "OutdatedNodes",
            "%d of %d driver pods on nodes still run the previous revision."
                .formatted(wanted - updated, wanted))
        : Optional.empty();
  }

  private Optional<Lack> ofController() {
    if (controller.isEmpty() || controller.get().getStatus() == null) {
      return lack("NotStarted", "The Deployment of the controller has not started yet.");
    }
    var status = controller.get().getStatus();
    if (!seen(controller.get().getMetadata().getGeneration(), status.getObservedGeneration())) {
      return lack("NotStarted", "The Deployment of the controller has not started yet.");
    }
    Integer written = controller.get().getSpec().getReplicas();
    int wanted = written == null ? 1 : written;
    int ready = number(status.getReadyReplicas());
    int updated = number(status.getUpdatedReplicas());
    int total = number(status.getReplicas());
    if (ready < wanted) {
      return lack("NotReady", "%d of %d controller pods are ready.".formatted(ready, wanted));
    }
    return updated < wanted || total > wanted
        ? lack(
            "Updating",
            "The controller is being updated: %d of its %d pods are of the current revision."
                .formatted(updated, total))
        : Optional.empty();
  }

  private static Optional<Lack> lack(String reason, String message) {
    return Optional.of(new Lack(reason, message));
  }

  private static boolean seen(@Nullable Long generation, @Nullable Long observed) {
    return observed != null && generation != null && observed >= generation;
  }

  private static int number(@Nullable Integer value) {
    return value == null ? 0 : value;
  }
}
