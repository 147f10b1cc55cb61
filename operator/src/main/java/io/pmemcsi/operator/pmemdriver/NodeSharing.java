package io.pmemcsi.operator.pmemdriver;

import io.pmemcsi.api.SharedSettings;
import io.pmemcsi.api.SharedSpec;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Warns when two drivers would manage the persistent memory of one node. */
public final class NodeSharing {

  private NodeSharing() {}

  /** The labels by which a resource selects its nodes, even where the rest of it is wrong. */
  public static Map<String, String> selector(SharedSpec spec) {
    Map<String, String> selector = spec.nodeSelector();
    return selector == null ? SharedSettings.DEFAULT_NODE_SELECTOR : selector;
  }

  /**
   * {@code NodesExclusive}: false while another driver selects the same nodes.
   *
   * @param peers the node selectors of other resources, by name
   * @param nodes the labels of all nodes, by name
   * @param before shows whether there was a conflict before: most clusters have one driver, and no
   *     condition
   */
  public static Optional<DeploymentCondition> condition(
      Map<String, String> selector,
      Map<String, Map<String, String>> peers,
      Map<String, Map<String, String>> nodes,
      PmemCSIDeploymentStatus before) {
    List<NodeConflict> conflicts = NodeConflict.find(selector, peers, nodes);
    if (!conflicts.isEmpty()) {
      return Optional.of(
          PmemCondition.NODES_EXCLUSIVE.isFalse(
              "Another driver runs on the same nodes.",
              conflicts.stream().map(NodeConflict::describe).collect(Collectors.joining("; "))
                  + ": change a nodeSelector so that each node has one driver"));
    }
    return before.condition(PmemCondition.NODES_EXCLUSIVE.type()).isPresent()
        ? Optional.of(PmemCondition.NODES_EXCLUSIVE.isTrue("No other driver runs on the nodes."))
        : Optional.empty();
  }

  public static boolean isConflict(DeploymentCondition condition) {
    return PmemCondition.NODES_EXCLUSIVE.isFalse(condition);
  }
}
