package io.pmemcsi.operator.rollout.draining;

import java.util.List;
import java.util.Optional;

/**
 * The nodes of a driver at one moment.
 *
 * @param driver the name of the CSI driver
 * @param owner uid of the resource
 * @param resource its namespace and name, separated by a slash
 * @param revision hash of the desired template; empty until the DaemonSet controller observed it
 */
record NodeSnapshot(
    String driver,
    String owner,
    String resource,
    Optional<String> revision,
    List<WorkerNode> nodes) {

  NodeSnapshot {
    nodes = List.copyOf(nodes);
  }
}
