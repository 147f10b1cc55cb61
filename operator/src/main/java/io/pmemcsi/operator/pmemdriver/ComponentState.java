package io.pmemcsi.operator.pmemdriver;

import static io.pmemcsi.api.pmem.DriverComponent.CONTROLLER;
import static io.pmemcsi.api.pmem.DriverComponent.NODE;
import static io.pmemcsi.api.pmem.DriverComponent.NOT_READY;
import static io.pmemcsi.api.pmem.DriverComponent.READY;

import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.controller.WorkloadState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Whether every desired pod of the current generation is ready.
 *
 * @param shown what the status shows
 * @param awaitsPods whether desired pods are not ready, so that each of them may yet fail
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
   * @param problem finds what keeps a pod from getting ready
   */
  static ComponentState node(
      Optional<DaemonSet> workload,
      Map<String, String> nodeSelector,
      Supplier<Optional<String>> problem) {
    Optional<WorkloadState> pods = workload.flatMap(WorkloadState::of);
    if (pods.isEmpty()) {
      return notReady(NODE, "Node daemon set has not started yet.");
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

  /**
   * The pods of the controller.
   *
   * @param problem finds what keeps a pod from getting ready
   */
  static ComponentState controller(
      Optional<Deployment> workload, Supplier<Optional<String>> problem) {
    Optional<WorkloadState> pods = workload.flatMap(WorkloadState::of);
    if (pods.isEmpty()) {
      return notReady(CONTROLLER, "Controller deployment has not started yet.");
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
            "Waiting for deployment to be ready: %d of %d replicas are ready%s"
                .formatted(Math.min(ready, updated), desired, suffix(problem)));
  }

  /**
   * The components of a driver whose objects are left as they are. A missing one is shown as long
   * as it existed before.
   *
   * @param problem finds what keeps a pod from getting ready
   */
  static List<ComponentState> leftRunning(
      PmemCSIDeploymentStatus before,
      Optional<Deployment> controller,
      Optional<DaemonSet> nodes,
      Function<Component, Optional<String>> problem) {
    var components = new ArrayList<ComponentState>();
    if (controller.isPresent() || before.component(CONTROLLER).isPresent()) {
      components.add(controller(controller, () -> problem.apply(Component.CONTROLLER)));
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
