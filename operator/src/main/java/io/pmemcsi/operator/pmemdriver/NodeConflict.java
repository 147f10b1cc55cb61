package io.pmemcsi.operator.pmemdriver;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Two drivers that would both run on some nodes.
 *
 * @param other the name of the other resource
 * @param nodes sorted by name
 */
record NodeConflict(String other, List<String> nodes) {

  private static final int NODES_TO_NAME = 10;

  NodeConflict {
    nodes = List.copyOf(nodes);
  }

  /**
   * Compares with the nodes that are there, not just the selectors: two selectors that look alike
   * may never meet, and two that look different may.
   *
   * @param others other resources
   * @param nodes labels by name of the node
   */
  static List<NodeConflict> find(
      PmemPeer self, List<PmemPeer> others, Map<String, Map<String, String>> nodes) {
    var conflicts = new ArrayList<NodeConflict>();
    others.stream()
        .sorted(Comparator.comparing(other -> other.title(self)))
        .forEach(
            other -> {
              List<String> shared =
                  nodes.entrySet().stream()
                      .filter(node -> self.selects(node.getValue()))
                      .filter(node -> other.selects(node.getValue()))
                      .map(Map.Entry::getKey)
                      .sorted()
                      .toList();
              if (!shared.isEmpty()) {
                conflicts.add(new NodeConflict(other.title(self), shared));
              }
            });
    return conflicts;
  }

  /** For the message of a condition. */
  String describe() {
    String named = String.join(", ", nodes.subList(0, Math.min(nodes.size(), NODES_TO_NAME)));
    String more =
        nodes.size() > NODES_TO_NAME ? " and %d more".formatted(nodes.size() - NODES_TO_NAME) : "";
    return "\"%s\" selects the same nodes: %s%s".formatted(other, named, more);
  }
}
