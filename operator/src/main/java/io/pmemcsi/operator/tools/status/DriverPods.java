package io.pmemcsi.operator.tools.status;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The pods of a driver on the nodes. */
record DriverPods(List<Pod> pods) {

  DriverPods {
    pods = List.copyOf(pods);
  }

  DriverPods(ResourceStatus resource, ClusterData cluster) {
    this(cluster.pods().stream().filter(resource::isNodePod).toList());
  }

  /** The nodes on which they run. */
  Set<String> nodes() {
    return pods.stream()
        .map(pod -> pod.getSpec().getNodeName())
        .filter(Objects::nonNull)
        .collect(Collectors.toSet());
  }

  /** What the pod on a node measures; empty where that could not be read. */
  Optional<NodeMetrics> metrics(String node, ClusterData cluster) {
    return on(node).flatMap(pod -> Optional.ofNullable(cluster.metrics().get(pod)));
  }

  /** Namespace and name of the pod on a node. */
  Optional<String> on(String node) {
    return pods.stream()
        .filter(pod -> node.equals(pod.getSpec().getNodeName()))
        .map(pod -> VolumeReport.name(pod.getMetadata()))
        .sorted()
        .findFirst();
  }
}
