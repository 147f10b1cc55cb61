package io.pmemcsi.operator.pmemdriver;

import java.util.ArrayList;
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
   * @param others node selectors by name of the other resources
   * @param nodes labels by name of the node
   */
  static List<NodeConflict> find(
      Map<String, String> selector,
      Map<String, Map<String, String>> others,
      Map<String, Map<String, String>> nodes) {
    var conflicts = new ArrayList<NodeConflict>();
    others.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(
            other -> {
              List<String> shared =
                  nodes.entrySet().stream()
                      .filter(node -> selects(selector, node.getValue()))
                      .filter(node -> selects(other.getValue(), node.getValue()))
                      .map(Map.Entry::getKey)
                      .sorted()
                      .toList();
              if (!shared.isEmpty()) {
                conflicts.add(new NodeConflict(other.getKey(), shared));
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

  private static boolean selects(Map<String, String> selector, Map<String, String> labels) {
    return selector.entrySet().stream()
        .allMatch(label -> label.getValue().equals(labels.get(label.getKey())));
  }
}
