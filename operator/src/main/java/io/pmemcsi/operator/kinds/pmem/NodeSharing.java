package io.pmemcsi.operator.kinds.pmem;

import io.pmemcsi.api.SharedSettings;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Warns when two drivers would manage the persistent memory of one node. */
final class NodeSharing {

  static final String CONDITION = "NodesExclusive";

  private NodeSharing() {}

  /** The labels by which a resource selects its nodes, also where the rest of it is wrong. */
  static Map<String, String> selector(PmemCSIDeployment resource) {
    Map<String, String> selector = resource.getSpec().nodeSelector();
    return selector == null ? SharedSettings.DEFAULT_NODE_SELECTOR : selector;
  }

  /** Nothing while there was never a clash: most clusters have one driver. */
  static Optional<DeploymentCondition> condition(
      PmemCSIDeployment resource,
      List<PmemCSIDeployment> others,
      Map<String, Map<String, String>> nodes) {
    Map<String, Map<String, String>> selectors =
        others.stream()
            .collect(
                Collectors.toMap(other -> other.getMetadata().getName(), NodeSharing::selector));
    List<NodeConflict> clashes = NodeConflict.find(selector(resource), selectors, nodes);
    if (!clashes.isEmpty()) {
      return Optional.of(
          ObservedStatus.condition(
              CONDITION,
              false,
              "Another driver runs on the same nodes.",
              clashes.stream().map(NodeConflict::describe).collect(Collectors.joining("; "))
                  + ": change a nodeSelector so that each node has one driver"));
    }
    PmemCSIDeploymentStatus status = resource.getStatus();
    return status.condition(CONDITION).isEmpty()
        ? Optional.empty()
        : Optional.of(
            ObservedStatus.condition(CONDITION, true, "No other driver runs on the nodes."));
  }
}
