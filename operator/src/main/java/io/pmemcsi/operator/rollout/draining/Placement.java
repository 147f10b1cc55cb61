package io.pmemcsi.operator.rollout.draining;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether the DaemonSet controller places a pod on a node. Otherwise an update would wait for ever
 * for a node that no longer matches.
 */
final class Placement {

  /** The DaemonSet controller adds tolerations for these to every pod. */
  private static final Set<String> ALWAYS_TOLERATED =
      Set.of(
          "node.kubernetes.io/not-ready",
          "node.kubernetes.io/unreachable",
          "node.kubernetes.io/disk-pressure",
          "node.kubernetes.io/memory-pressure",
          "node.kubernetes.io/pid-pressure",
          "node.kubernetes.io/unschedulable");

  private static final String NO_NETWORK = "node.kubernetes.io/network-unavailable";

  private Placement() {}

  static boolean matches(PodSpec pod, Node node) {
    return selected(pod, node) && affine(pod, node) && tolerated(pod, node);
  }

  private static boolean selected(PodSpec pod, Node node) {
    Map<String, String> selector = pod.getNodeSelector();
    return selector == null || labels(node).entrySet().containsAll(selector.entrySet());
  }

  private static boolean affine(PodSpec pod, Node node) {
    if (pod.getAffinity() == null
        || pod.getAffinity().getNodeAffinity() == null
        || pod.getAffinity().getNodeAffinity().getRequiredDuringSchedulingIgnoredDuringExecution()
            == null) {
      return true;
    }
    return pod
        .getAffinity()
        .getNodeAffinity()
        .getRequiredDuringSchedulingIgnoredDuringExecution()
        .getNodeSelectorTerms()
        .stream()
        .anyMatch(term -> matches(term, node));
  }

  private static boolean matches(NodeSelectorTerm term, Node node) {
    List<NodeSelectorRequirement> expressions = term.getMatchExpressions();
    List<NodeSelectorRequirement> fields = term.getMatchFields();
    if (expressions.isEmpty() && fields.isEmpty()) {
      return false;
    }
    Map<String, String> names = Map.of("metadata.name", node.getMetadata().getName());
    return expressions.stream().allMatch(rule -> matches(rule, labels(node)))
        && fields.stream().allMatch(rule -> matches(rule, names));
  }

  private static boolean matches(NodeSelectorRequirement rule, Map<String, String> values) {
    String value = values.get(rule.getKey());
    return switch (rule.getOperator()) {
      case "In" -> value != null && rule.getValues().contains(value);
      case "NotIn" -> value == null || !rule.getValues().contains(value);
      case "Exists" -> value != null;
      case "DoesNotExist" -> value == null;
      case "Gt" -> compare(value, rule).filter(order -> order > 0).isPresent();
      case "Lt" -> compare(value, rule).filter(order -> order < 0).isPresent();
      default -> false;
    };
  }

  private static Optional<Integer> compare(@Nullable String value, NodeSelectorRequirement rule) {
    try {
      return value == null
          ? Optional.empty()
          : Optional.of(
              Long.compare(Long.parseLong(value), Long.parseLong(rule.getValues().getFirst())));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  private static boolean tolerated(PodSpec pod, Node node) {
    boolean hostNetwork = Boolean.TRUE.equals(pod.getHostNetwork());
    return node.getSpec() == null
        || node.getSpec().getTaints().stream()
            .filter(taint -> !"PreferNoSchedule".equals(taint.getEffect()))
            .filter(taint -> !ALWAYS_TOLERATED.contains(taint.getKey()))
            .filter(taint -> !(hostNetwork && NO_NETWORK.equals(taint.getKey())))
            .allMatch(
                taint -> pod.getTolerations().stream().anyMatch(one -> tolerates(one, taint)));
  }

  private static boolean tolerates(Toleration toleration, Taint taint) {
    String key = text(toleration.getKey());
    String effect = text(toleration.getEffect());
    boolean exists = "Exists".equals(toleration.getOperator());
    return (effect.isEmpty() || effect.equals(taint.getEffect()))
        && (key.isEmpty() ? exists : key.equals(taint.getKey()))
        && (exists || text(toleration.getValue()).equals(text(taint.getValue())));
  }

  private static Map<String, String> labels(Node node) {
    Map<String, String> labels = node.getMetadata().getLabels();
    return labels == null ? Map.of() : labels;
  }

  private static String text(@Nullable String value) {
    return value == null ? "" : value;
  }
}
