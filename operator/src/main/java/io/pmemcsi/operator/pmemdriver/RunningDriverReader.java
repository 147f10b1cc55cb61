package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.api.pmem.UnpreparedNode;
import io.pmemcsi.operator.controller.ClusterReader;
import io.pmemcsi.operator.controller.RequeuePeriods;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Observes what runs of a driver: counts of its workloads, failing pods, memory of its nodes. */
public final class RunningDriverReader {

  private final NodeMemory memory;

  private RunningDriverReader(NodeMemory memory) {
    this.memory = memory;
  }

  /** Reads the memory of nodes from the metrics of the driver's pods. */
  public static RunningDriverReader overHttp(Clock clock) {
    return new RunningDriverReader(
        new NodeMemory(MemoryReader.overHttp(), clock, RequeuePeriods.DEFAULT.nodes()));
  }

  /** A driver whose objects are as desired. */
  public <R extends HasMetadata> RunningDriver asDesired(
      PmemModel driver,
      boolean hasController,
      PmemCSIDeploymentStatus before,
      Optional<DeploymentCondition> nodesExclusive,
      ClusterReader<R> cluster,
      Runnable requeue) {
    var names = driver.names();
    Function<Component, Optional<String>> problem =
        component -> problem(names, driver.facts().namespace(), component, cluster.client());
    var components = new ArrayList<ComponentState>();
    if (hasController) {
      components.add(
          ComponentState.controller(
              cluster.owned(Deployment.class, names.controller()),
              () -> problem.apply(Component.CONTROLLER)));
    }
    components.add(
        ComponentState.node(
            cluster.owned(DaemonSet.class, names.nodeDaemonSet()),
            driver.settings().nodeSelector(),
            () -> problem.apply(Component.NODE)));
    return withMemory(
        new RunningDriver(components, before.unpreparedNodes(), nodesExclusive),
        names,
        driver.facts().namespace(),
        cluster.client(),
        requeue);
  }

  /** A driver whose objects are left as they are because of a problem: its pods change anyway. */
  public <R extends HasMetadata> RunningDriver despiteFailure(
      PmemNames names,
      String namespace,
      PmemCSIDeploymentStatus before,
      Optional<DeploymentCondition> nodesExclusive,
      ClusterReader<R> cluster,
      Runnable requeue) {
    List<ComponentState> components =
        leftRunning(
            names,
            before,
            cluster,
            component -> problem(names, namespace, component, cluster.client()));
    return withMemory(
        new RunningDriver(components, before.unpreparedNodes(), nodesExclusive),
        names,
        namespace,
        cluster.client(),
        requeue);
  }

  /** The same from caches alone: the server may be what failed. */
  public static <R extends HasMetadata> RunningDriver asCached(
      PmemNames names, PmemCSIDeploymentStatus before, ClusterReader<R> cluster) {
    return new RunningDriver(
        leftRunning(names, before, cluster, _ -> Optional.empty()),
        before.unpreparedNodes(),
        Optional.empty());
  }

  private static <R extends HasMetadata> List<ComponentState> leftRunning(
      PmemNames names,
      PmemCSIDeploymentStatus before,
      ClusterReader<R> cluster,
      Function<Component, Optional<String>> problem) {
    return ComponentState.leftRunning(
        before,
        cluster.owned(Deployment.class, names.controller()),
        cluster.owned(DaemonSet.class, names.nodeDaemonSet()),
        problem);
  }

  private RunningDriver withMemory(
      RunningDriver running,
      PmemNames names,
      String namespace,
      KubernetesClient client,
      Runnable requeue) {
    return running.nodesAreReady()
        ? running.with(
            memory.unprepared(
                pods(names, namespace, Component.NODE, client),
                names,
                running.unpreparedNodes().stream()
                    .map(UnpreparedNode::node)
                    .collect(Collectors.toSet()),
                requeue))
        : running;
  }

  private static Optional<String> problem(
      PmemNames names, String namespace, Component component, KubernetesClient client) {
    return PodProblem.of(pods(names, namespace, component, client));
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
