package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.UnpreparedNode;
import io.pmemcsi.base.names.DriverName;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What runs of a driver: the counts of its workloads, its pods in trouble, its nodes' memory. */
final class RunningComponents {

  private final String namespace;
  private final NodeMemory memory;
  private final Consumer<ResourceID> wakeUp;

  /**
   * @param namespace of the drivers
   * @param wakeUp asks for another walk, when a node has answered
   */
  RunningComponents(String namespace, NodeMemory memory, Consumer<ResourceID> wakeUp) {
    this.namespace = namespace;
    this.memory = memory;
    this.wakeUp = wakeUp;
  }

  /** The components of a driver whose objects are as they are wanted. */
  List<DriverComponent> wanted(
      PmemModel driver, boolean withController, Context<PmemCSIDeployment> context) {
    var names = driver.names();
    var components = new ArrayList<DriverComponent>();
    if (withController) {
      components.add(
          Components.controller(
              secondary(context, Deployment.class, names.controller()),
              () -> trouble(names, Component.CONTROLLER, context)));
    }
    components.add(
        Components.node(
            secondary(context, DaemonSet.class, names.nodeDaemonSet()),
            driver.settings().nodeSelector(),
            () -> trouble(names, Component.NODE, context)));
    return components;
  }

  /**
   * A failure together with what runs nevertheless: objects are left as they are, but pods come and
   * go.
   */
  ObservedStatus nevertheless(
      ObservedStatus failed, PmemCSIDeployment resource, Context<PmemCSIDeployment> context) {
    Optional<PmemNames> names = names(resource);
    if (names.isEmpty()) {
      return failed;
    }
    ObservedStatus found =
        leftRunning(failed, resource, context, part -> trouble(names.get(), part, context));
    return found.isReady(DriverComponent.NODE)
        ? found.with(found.components(), unprepared(resource, names.get(), context))
        : found;
  }

  /** The same without a question to the server, which perhaps is what failed. */
  static ObservedStatus asCached(
      ObservedStatus failed, PmemCSIDeployment resource, Context<PmemCSIDeployment> context) {
    return leftRunning(failed, resource, context, _ -> Optional.empty());
  }

  private static ObservedStatus leftRunning(
      ObservedStatus failed,
      PmemCSIDeployment resource,
      Context<PmemCSIDeployment> context,
      Function<Component, Optional<String>> trouble) {
    return names(resource)
        .map(
            names ->
                failed.with(
                    Components.leftRunning(
                        resource.getStatus(),
                        secondary(context, Deployment.class, names.controller()),
                        secondary(context, DaemonSet.class, names.nodeDaemonSet()),
                        trouble),
                    resource.getStatus().unpreparedNodes()))
        .orElse(failed);
  }

  /** Nothing was ever made for a resource that has none. */
  private static Optional<PmemNames> names(PmemCSIDeployment resource) {
    String name = resource.getMetadata().getName();
    return DriverName.isAllowed(name)
        ? Optional.of(new PmemNames(new DriverName(name)))
        : Optional.empty();
  }

  /** Nodes on which the driver is ready but finds no memory. */
  List<UnpreparedNode> unprepared(
      PmemCSIDeployment resource, PmemNames names, Context<PmemCSIDeployment> context) {
    return memory.unprepared(
        pods(names, Component.NODE, context),
        names,
        resource.getStatus().unpreparedNodes().stream()
            .map(UnpreparedNode::node)
            .collect(Collectors.toSet()),
        () -> wakeUp.accept(ResourceID.fromResource(resource)));
  }

  private Optional<String> trouble(
      PmemNames names, Component part, Context<PmemCSIDeployment> context) {
    return PodProblem.of(pods(names, part, context));
  }

  /** Asked for when needed: a cache of the pods of thousands of nodes would be big. */
  private List<Pod> pods(PmemNames names, Component part, Context<PmemCSIDeployment> context) {
    return context
        .getClient()
        .pods()
        .inNamespace(namespace)
        .withLabels(new PmemLabels(names.driverName(), Map.of()).selector(part))
        .list()
        .getItems();
  }

  /** An object of the resource, by its name. */
  static <R extends HasMetadata> Optional<R> secondary(
      Context<PmemCSIDeployment> context, Class<R> kind, String name) {
    return context
        .getSecondaryResourcesAsStream(kind)
        .filter(object -> object.getMetadata().getName().equals(name))
        .findFirst();
  }
}
