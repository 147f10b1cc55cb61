package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.api.pmem.UnpreparedNode;
import io.pmemcsi.operator.controller.ClusterReader;
import io.pmemcsi.operator.controller.WorkloadProblem;
import io.pmemcsi.operator.facts.RequeuePeriods;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Observes what runs of a driver: counts of its workloads, failing pods, registration and memory of
 * its nodes.
 */
public final class RunningDriverReader {

  private final NodeMemory memory;
  private final ControllerWorkload controller;

  private RunningDriverReader(NodeMemory memory, ControllerWorkload controller) {
    this.memory = memory;
    this.controller = controller;
  }

  /** Reads memory and registrations of nodes from the metrics of the driver's pods. */
  public static RunningDriverReader overHttp(ControllerWorkload controller, Clock clock) {
    return new RunningDriverReader(
        new NodeMemory(MemoryReader.overHttp(), clock, RequeuePeriods.DEFAULT.nodes()), controller);
  }

  /** A driver whose objects are as desired. */
  public <R extends HasMetadata> RunningDriver asDesired(
      PmemModel driver,
      boolean hasController,
      PmemCSIDeploymentStatus before,
      ClusterReader<R> cluster,
      Runnable requeue) {
    var names = driver.names();
    Function<Component, Optional<String>> problem =
        component -> problem(names, driver.facts().namespace(), component, cluster);
    var components = new ArrayList<ComponentState>();
    if (hasController) {
      components.add(
          ComponentState.controller(
              controller,
              controller.find(names, cluster),
              () -> problem.apply(Component.CONTROLLER)));
    }
    components.add(
        ComponentState.node(
            cluster.owned(DaemonSet.class, names.nodeDaemonSet()),
            driver.settings().nodeSelector(),
            () -> problem.apply(Component.NODE)));
    return onNodes(
        new RunningDriver(components, before.unpreparedNodes()),
        names,
        driver.facts().namespace(),
        cluster,
        requeue);
  }

  /** A driver whose objects are left as they are because of a problem: its pods change anyway. */
  public <R extends HasMetadata> RunningDriver despiteFailure(
      PmemNames names,
      String namespace,
      PmemCSIDeploymentStatus before,
      ClusterReader<R> cluster,
      Runnable requeue) {
    List<ComponentState> components =
        leftRunning(
            names, before, cluster, component -> problem(names, namespace, component, cluster));
    return onNodes(
        new RunningDriver(components, before.unpreparedNodes()),
        names,
        namespace,
        cluster,
        requeue);
  }

  /** The same from caches alone: the server may be what failed. */
  public <R extends HasMetadata> RunningDriver asCached(
      PmemNames names, PmemCSIDeploymentStatus before, ClusterReader<R> cluster) {
    return new RunningDriver(
        leftRunning(names, before, cluster, _ -> Optional.empty()), before.unpreparedNodes());
  }

  private <R extends HasMetadata> List<ComponentState> leftRunning(
      PmemNames names,
      PmemCSIDeploymentStatus before,
      ClusterReader<R> cluster,
      Function<Component, Optional<String>> problem) {
    return ComponentState.leftRunning(
        before,
        controller,
        controller.find(names, cluster),
        cluster.owned(DaemonSet.class, names.nodeDaemonSet()),
        problem);
  }

  /** What is known only on the nodes, once every pod is ready. */
  private <R extends HasMetadata> RunningDriver onNodes(
      RunningDriver running,
      PmemNames names,
      String namespace,
      ClusterReader<R> cluster,
      Runnable requeue) {
    if (!running.nodesAreReady()) {
      return running;
    }
    List<Pod> pods = pods(names, namespace, Component.NODE, cluster.client());
    SortedSet<String> missing =
        RegisteredNodes.missing(
            pods,
            cluster.watched(
                CSINode.class,
                PmemWatches.CSI_NODES,
                node -> RegisteredNodes.drivers(node).contains(names.driverName())));
    if (!missing.isEmpty()) {
      return running.notRegisteredOn(missing);
    }
    SortedSet<String> unregistered = unregistered(running, pods, names, namespace, cluster);
    return unregistered.isEmpty()
        ? running.with(
            memory.unprepared(
                pods,
                names,
                running.unpreparedNodes().stream()
                    .map(UnpreparedNode::node)
                    .collect(Collectors.toSet()),
                requeue))
        : running.notRegisteredWithController(unregistered);
  }

  /**
   * The nodes on which no volume can be created, because the central controller does not know them.
   * None where that cannot be observed: an operator outside of the cluster does not reach pods.
   */
  private <R extends HasMetadata> SortedSet<String> unregistered(
      RunningDriver running,
      List<Pod> nodePods,
      PmemNames names,
      String namespace,
      ClusterReader<R> cluster) {
    if (!controller.hasRegistry() || !running.isReady(DriverComponent.CONTROLLER)) {
      return Collections.emptySortedSet();
    }
    return pods(names, namespace, Component.CONTROLLER, cluster.client()).stream()
        .map(pod -> pod.getStatus().getPodIP())
        .filter(ip -> ip != null && !ip.isEmpty())
        .findFirst()
        .flatMap(RegistryReader::nodes)
        .map(registered -> RegisteredNodes.without(nodePods, registered))
        .orElseGet(Collections::emptySortedSet);
  }

  private Optional<String> problem(
      PmemNames names, String namespace, Component component, ClusterReader<?> cluster) {
    Optional<? extends HasMetadata> workload =
        component == Component.NODE
            ? cluster.owned(DaemonSet.class, names.nodeDaemonSet())
            : controller.find(names, cluster);
    KubernetesClient client = cluster.client();
    return workload.flatMap(
        found -> WorkloadProblem.of(found, pods(names, namespace, component, client), client));
  }

  /** Read when needed: a cache of the pods of thousands of nodes would be big. */
  private static List<Pod> pods(
      PmemNames names, String namespace, Component component, KubernetesClient client) {
    return client
        .pods()
        .inNamespace(namespace)
        .withLabels(new PmemLabels(names.driverName(), Map.of()).selector(component))
        .list()
        .getItems();
  }
}
