package io.pmemcsi.operator.pmemdriver;

import static io.pmemcsi.api.pmem.DriverComponent.CONTROLLER;
import static io.pmemcsi.api.pmem.DriverComponent.NODE;
import static io.pmemcsi.api.pmem.DriverComponent.NOT_READY;
import static io.pmemcsi.api.pmem.DriverComponent.READY;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.controller.WorkloadState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Whether every desired pod of the current generation is ready.
 *
 * @param shown what the status shows
 * @param awaitsPods whether pods are not ready or not registered, which no event reports
 */
public record ComponentState(DriverComponent shown, boolean awaitsPods) {

  boolean is(String component) {
    return shown.component().equals(component);
  }

  public boolean isReady() {
    return shown.status().equals(READY);
  }

  /**
   * The pods on the nodes.
   *
   * @param problem finds why pods are missing or not ready
   */
  static ComponentState node(
      Optional<DaemonSet> workload,
      Map<String, String> nodeSelector,
      Supplier<Optional<String>> problem) {
    Optional<WorkloadState> pods = workload.flatMap(WorkloadState::of);
    if (pods.isEmpty()) {
      return notStarted(NODE, "Node daemon set", workload, problem);
    }
    int desired = pods.get().desired();
    int updated = pods.get().updated();
    int ready = pods.get().ready();
    if (desired == 0) {
      return notReady(
          NODE,
          "No node has the labels %s: label the nodes on which the driver must run."
              .formatted(new TreeMap<>(nodeSelector)));
    }
    if (updated < desired) {
      return awaiting(
          NODE,
          "%d out of %d driver pods are ready, %d of them still run the previous revision%s"
              .formatted(ready, desired, Math.max(0, ready - updated), suffix(problem)));
    }
    return ready < desired
        ? awaiting(
            NODE, "%d out of %d driver pods are ready%s".formatted(ready, desired, suffix(problem)))
        : ready(NODE, "All %d node driver pod(s) running successfully".formatted(desired));
  }

  /** The pods on the nodes are ready, but kubelet does not use the driver on some of them. */
  static ComponentState notRegisteredOn(SortedSet<String> nodes) {
    return notReady(
        NODE,
        ("Kubelet has not registered the driver on %d node(s): %s. Check that spec.kubeletDir is"
                + " kubelet's directory there, and the log of the container driver-registrar.")
            .formatted(nodes.size(), RegisteredNodes.describe(nodes)));
  }

  /**
   * Kubelet uses the driver on the nodes, but the central controller does not know some of them.
   */
  static ComponentState notRegisteredWithController(SortedSet<String> nodes) {
    return awaiting(
        NODE,
        ("%d node(s) have not registered with the controller: %s. Check the log of the container"
                + " pmem-driver in their pods.")
            .formatted(nodes.size(), RegisteredNodes.describe(nodes)));
  }

  /**
   * The pods of the controller.
   *
   * @param problem finds why pods are missing or not ready
   */
  static ComponentState controller(
      ControllerWorkload type,
      Optional<? extends HasMetadata> workload,
      Supplier<Optional<String>> problem) {
    Optional<WorkloadState> pods = workload.flatMap(WorkloadState::of);
    if (pods.isEmpty()) {
      return notStarted(CONTROLLER, "Controller " + type.description(), workload, problem);
    }
    int desired = pods.get().desired();
    int ready = pods.get().ready();
    int updated = pods.get().updated();
    return ready >= desired && updated >= desired && pods.get().total() <= desired
        ? ready(
            CONTROLLER,
            "%d instance(s) of controller driver is running successfully".formatted(desired))
        : awaiting(
            CONTROLLER,
            "Waiting for %s to be ready: %d of %d replicas are ready%s"
                .formatted(type.description(), Math.min(ready, updated), desired, suffix(problem)));
  }

  /**
   * The components of a driver whose objects are left as they are. A missing one is shown as long
   * as it existed before.
   *
   * @param problem finds why pods are missing or not ready
   */
  static List<ComponentState> leftRunning(
      PmemCSIDeploymentStatus before,
      ControllerWorkload type,
      Optional<? extends HasMetadata> controller,
      Optional<DaemonSet> nodes,
      Function<Component, Optional<String>> problem) {
    var components = new ArrayList<ComponentState>();
    if (controller.isPresent() || before.component(CONTROLLER).isPresent()) {
      components.add(controller(type, controller, () -> problem.apply(Component.CONTROLLER)));
    }
    if (nodes.isPresent() || before.component(NODE).isPresent()) {
      components.add(
          node(
              nodes,
              nodes
                  .map(set -> set.getSpec().getTemplate().getSpec().getNodeSelector())
                  .orElse(Map.of()),
              () -> problem.apply(Component.NODE)));
    }
    return components;
  }

  /** Nothing has been counted yet: the workload is new, or its pods cannot be created. */
  private static ComponentState notStarted(
      String component,
      String description,
      Optional<? extends HasMetadata> workload,
      Supplier<Optional<String>> problem) {
    String reason = description + " has not started yet";
    return workload.isEmpty()
        ? notReady(component, reason + ".")
        : awaiting(component, reason + problem.get().map("; "::concat).orElse("."));
  }

  private static String suffix(Supplier<Optional<String>> problem) {
    return problem.get().map(what -> "; " + what).orElse("");
  }

  private static ComponentState ready(String component, String reason) {
    return new ComponentState(new DriverComponent(component, READY, reason, null), false);
  }

  private static ComponentState notReady(String component, String reason) {
    return new ComponentState(new DriverComponent(component, NOT_READY, reason, null), false);
  }

  private static ComponentState awaiting(String component, String reason) {
    return new ComponentState(new DriverComponent(component, NOT_READY, reason, null), true);
  }
}
