package io.pmemcsi.operator.kinds.template;

import static io.pmemcsi.operator.kinds.template.TemplateCondition.AVAILABLE;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.pmemcsi.api.template.Child;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.controller.WorkloadState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Whether every desired pod of the current generation is ready.
 *
 * @param nodes the driver on the nodes
 * @param controller its controller
 * @param hasController whether one is desired
 * @param nodeProblem why pods on nodes are missing or not ready
 * @param controllerProblem why pods of the controller are missing or not ready
 */
record Availability(
    Optional<DaemonSet> nodes,
    Optional<Deployment> controller,
    boolean hasController,
    Optional<String> nodeProblem,
    Optional<String> controllerProblem) {

  /**
   * With the reasons why pods are not ready.
   *
   * @param problem finds the one of the pods of a workload
   */
  static Availability of(
      Optional<DaemonSet> nodes,
      Optional<Deployment> controller,
      boolean hasController,
      Function<HasMetadata, Optional<String>> problem) {
    return new Availability(
        nodes,
        controller,
        hasController,
        nodes.filter(Availability::awaitsPods).flatMap(problem),
        controller.filter(found -> hasController && awaitsPods(found)).flatMap(problem));
  }

  private record Shortfall(TemplateReason reason, String message) {}

  DriverCondition condition() {
    return condition(Optional.empty());
  }

  /**
   * The condition.
   *
   * @param missingApi why pods may not get ready
   */
  DriverCondition condition(Optional<String> missingApi) {
    List<Shortfall> shortfalls = shortfalls();
    return shortfalls.isEmpty()
        ? AVAILABLE.isTrue(TemplateReason.READY, "All driver pods are ready.")
        : AVAILABLE.isFalse(
            shortfalls.getFirst().reason(),
            Stream.concat(shortfalls.stream().map(Shortfall::message), missingApi.stream())
                .collect(Collectors.joining("\n")));
  }

  private List<Shortfall> shortfalls() {
    var shortfalls = new ArrayList<Shortfall>();
    if (hasController) {
      ofController().ifPresent(shortfalls::add);
    }
    ofNodes().ifPresent(shortfalls::add);
    return shortfalls;
  }

  /** Whether desired pods are not ready, so that each of them may yet fail. */
  boolean awaitsPods() {
    return nodes.filter(Availability::awaitsPods).isPresent()
        || (hasController && controller.filter(Availability::awaitsPods).isPresent());
  }

  /** Also if nothing has been counted yet: the reason may be that no pod can be created. */
  private static boolean awaitsPods(HasMetadata workload) {
    return WorkloadState.of(workload)
        .filter(counted -> counted.ready() >= counted.desired())
        .isEmpty();
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
          TemplateReason.NOT_STARTED,
          "The DaemonSet of the driver has not started yet" + suffix(nodeProblem));
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
          "%d of %d driver pods on nodes are ready%s"
              .formatted(pods.ready(), pods.desired(), suffix(nodeProblem)));
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
          TemplateReason.NOT_STARTED,
          "The Deployment of the controller has not started yet" + suffix(controllerProblem));
    }
    WorkloadState pods = counted.get();
    if (pods.ready() < pods.desired()) {
      return shortfall(
          TemplateReason.NOT_READY,
          "%d of %d controller pods are ready%s"
              .formatted(pods.ready(), pods.desired(), suffix(controllerProblem)));
    }
    return pods.updated() < pods.desired() || pods.total() > pods.desired()
        ? shortfall(
            TemplateReason.UPDATING,
            "The controller is being updated: %d of its %d pods are of the current revision."
                .formatted(pods.updated(), pods.total()))
        : Optional.empty();
  }

  private static String suffix(Optional<String> problem) {
    return problem.map("; "::concat).orElse(".");
  }

  private static Optional<Shortfall> shortfall(TemplateReason reason, String message) {
    return Optional.of(new Shortfall(reason, message));
  }
}
