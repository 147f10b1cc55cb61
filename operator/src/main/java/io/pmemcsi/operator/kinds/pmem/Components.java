package io.pmemcsi.operator.kinds.pmem;

import static io.pmemcsi.api.pmem.DriverComponent.CONTROLLER;
import static io.pmemcsi.api.pmem.DriverComponent.NODE;
import static io.pmemcsi.api.pmem.DriverComponent.NOT_READY;
import static io.pmemcsi.api.pmem.DriverComponent.READY;

import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
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

/** Whether every wanted pod of the current generation is ready. */
final class Components {

  /** Stands in each reason that counts pods which are wanted and not all there. */
  private static final String COUNTED = " are ready";

  private Components() {}

  /**
   * The pods on the nodes.
   *
   * @param trouble looks for what keeps a pod from getting ready
   */
  static DriverComponent node(
      Optional<DaemonSet> found,
      Map<String, String> nodeSelector,
      Supplier<Optional<String>> trouble) {
    Optional<WorkloadState> counted = found.flatMap(WorkloadState::of);
    if (counted.isEmpty()) {
      return component(NODE, false, "Node daemon set has not started yet.");
    }
    int wanted = counted.get().wanted();
    int updated = counted.get().updated();
    int ready = counted.get().ready();
    if (wanted == 0) {
      return component(
          NODE,
          false,
          "No node has the labels %s: label the nodes on which the driver shall run."
              .formatted(new TreeMap<>(nodeSelector)));
    }
    if (updated < wanted) {
      return component(
          NODE,
          false,
          "%d out of %d driver pods are ready, %d of them still run the previous revision%s"
              .formatted(ready, wanted, Math.max(0, ready - updated), told(trouble)));
    }
    return ready < wanted
        ? component(
            NODE,
            false,
            "%d out of %d driver pods are ready%s".formatted(ready, wanted, told(trouble)))
        : component(NODE, true, "All %d node driver pod(s) running successfully".formatted(wanted));
  }

  /**
   * The pods of the controller.
   *
   * @param trouble looks for what keeps a pod from getting ready
   */
  static DriverComponent controller(
      Optional<Deployment> found, Supplier<Optional<String>> trouble) {
    Optional<WorkloadState> counted = found.flatMap(WorkloadState::of);
    if (counted.isEmpty()) {
      return component(CONTROLLER, false, "Controller deployment has not started yet.");
    }
    int wanted = counted.get().wanted();
    int ready = counted.get().ready();
    int updated = counted.get().updated();
    int total = counted.get().total();
    return ready >= wanted && updated >= wanted && total <= wanted
        ? component(
            CONTROLLER,
            true,
            "%d instance(s) of controller driver is running successfully".formatted(wanted))
        : component(
            CONTROLLER,
            false,
            "Waiting for deployment to be ready: %d of %d replicas are ready%s"
                .formatted(Math.min(ready, updated), wanted, told(trouble)));
  }

  /**
   * Those of a driver that nobody changes now, as they are; one that is gone is told as long as it
   * was there before.
   *
   * @param trouble looks for what keeps a pod from getting ready
   */
  static List<DriverComponent> leftRunning(
      PmemCSIDeploymentStatus before,
      Optional<Deployment> controller,
      Optional<DaemonSet> nodes,
      Function<Component, Optional<String>> trouble) {
    var components = new ArrayList<DriverComponent>();
    if (controller.isPresent() || before.component(CONTROLLER).isPresent()) {
      components.add(controller(controller, () -> trouble.apply(Component.CONTROLLER)));
    }
    if (nodes.isPresent() || before.component(NODE).isPresent()) {
      components.add(
          node(
              nodes,
              nodes
                  .map(set -> set.getSpec().getTemplate().getSpec().getNodeSelector())
                  .orElse(Map.of()),
              () -> trouble.apply(Component.NODE)));
    }
    return components;
  }

  /**
   * Whether the webhook has answered once. Before that it must not be able to refuse pods: those of
   * the whole cluster would wait for a controller that perhaps never starts.
   */
  static boolean webhookAnswers(
      Optional<Deployment> controller, Optional<MutatingWebhookConfiguration> webhook) {
    return controller(controller, Optional::empty).status().equals(READY)
        || webhook
            .filter(
                hook ->
                    hook.getWebhooks().stream()
                        .anyMatch(
                            one -> PmemDesiredState.MUST_ANSWER.equals(one.getFailurePolicy())))
            .isPresent();
  }

  /** Whether pods are wanted here that are not ready. */
  static boolean awaitsPods(DriverComponent component) {
    return component.status().equals(NOT_READY)
        && String.valueOf(component.reason()).contains(COUNTED);
  }

  private static String told(Supplier<Optional<String>> trouble) {
    return trouble.get().map(what -> "; " + what).orElse("");
  }

  private static DriverComponent component(String name, boolean ready, String reason) {
    return new DriverComponent(name, ready ? READY : NOT_READY, reason, null);
  }
}
