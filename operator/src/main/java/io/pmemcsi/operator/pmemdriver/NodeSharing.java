package io.pmemcsi.operator.pmemdriver;

import io.pmemcsi.api.DeviceMode;
import io.pmemcsi.api.SharedSettings;
import io.pmemcsi.api.SharedSpec;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Warns when the drivers of one node want more persistent memory than it has. */
public final class NodeSharing {

  private static final int ALL = 100;

  private NodeSharing() {}

  /** The labels by which a resource selects its nodes, even where the rest of it is wrong. */
  public static Map<String, String> selector(SharedSpec spec) {
    Map<String, String> selector = spec.nodeSelector();
    return selector == null ? SharedSettings.DEFAULT_NODE_SELECTOR : selector;
  }

  /**
   * The share of the memory of a node that a resource claims, in percent. A driver in mode direct
   * takes what is free, so that others must leave something.
   */
  static int share(SharedSpec spec) {
    return DeviceMode.DIRECT.text().equals(spec.deviceMode())
        ? 1
        : Written.number(spec.pmemPercentage()).orElse(ALL);
  }

  /**
   * {@code NodesExclusive}: false while the drivers that select the same nodes claim more memory
   * than these have.
   *
   * @param self the resource itself
   * @param peers other resources with other drivers
   * @param nodes the labels of all nodes, by name
   * @param before shows whether nodes were shared before: most clusters have one driver, and no
   *     condition
   */
  public static Optional<DeploymentCondition> condition(
      PmemPeer self,
      List<PmemPeer> peers,
      Map<String, Map<String, String>> nodes,
      PmemCSIDeploymentStatus before) {
    List<NodeConflict> shared = NodeConflict.find(self, peers, nodes);
    List<NodeConflict> conflicts =
        NodeConflict.find(self, peers, overcommitted(self, peers, nodes));
    if (!conflicts.isEmpty()) {
      return Optional.of(
          PmemCondition.NODES_EXCLUSIVE.isFalse(
              "Another driver runs on the same nodes.",
              describe(conflicts)
                  + ": let pmemPercentage of the drivers sum up to at most 100, or change a"
                  + " nodeSelector so that each node has one driver"));
    }
    if (!shared.isEmpty()) {
      return Optional.of(
          PmemCondition.NODES_EXCLUSIVE.isTrue(
              "Each driver on the nodes has memory of its own.", describe(shared)));
    }
    return before.condition(PmemCondition.NODES_EXCLUSIVE.type()).isPresent()
        ? Optional.of(PmemCondition.NODES_EXCLUSIVE.isTrue("No other driver runs on the nodes."))
        : Optional.empty();
  }

  private static Map<String, Map<String, String>> overcommitted(
      PmemPeer self, List<PmemPeer> peers, Map<String, Map<String, String>> nodes) {
    return nodes.entrySet().stream()
        .filter(
            node ->
                self.share()
                        + peers.stream()
                            .filter(peer -> peer.selects(node.getValue()))
                            .mapToInt(PmemPeer::share)
                            .sum()
                    > ALL)
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  private static String describe(List<NodeConflict> conflicts) {
    return conflicts.stream().map(NodeConflict::describe).collect(Collectors.joining("; "));
  }

  /** Whether other drivers run on the nodes, with enough memory or not. */
  static boolean isShared(DeploymentCondition condition) {
    return condition.message() != null;
  }
}
