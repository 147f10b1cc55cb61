package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.api.model.storage.CSINodeDriver;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** On which nodes a driver is registered: only there it can be used. */
final class RegisteredNodes {

  private static final int MAX_NAMES = 10;

  private RegisteredNodes() {}

  /** The names of the registered drivers; null in the API for a node without any. */
  static Set<String> drivers(CSINode node) {
    List<CSINodeDriver> drivers = node.getSpec() == null ? null : node.getSpec().getDrivers();
    return drivers == null
        ? Set.of()
        : drivers.stream().map(CSINodeDriver::getName).collect(Collectors.toSet());
  }

  /**
   * The nodes on which pods of a driver run, but where it is not registered.
   *
   * @param registered the nodes where it is
   */
  static SortedSet<String> missing(Collection<Pod> pods, Collection<CSINode> registered) {
    return without(
        pods,
        registered.stream().map(node -> node.getMetadata().getName()).collect(Collectors.toSet()));
  }

  /** The nodes on which pods run, except some. */
  static SortedSet<String> without(Collection<Pod> pods, Set<String> registered) {
    return pods.stream()
        .map(pod -> pod.getSpec().getNodeName())
        .filter(Objects::nonNull)
        .filter(node -> !registered.contains(node))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** For the status: the first names, and how many there are. */
  static String describe(SortedSet<String> nodes) {
    String names = nodes.stream().limit(MAX_NAMES).collect(Collectors.joining(", "));
    return nodes.size() <= MAX_NAMES
        ? names
        : "%s and %d more".formatted(names, nodes.size() - MAX_NAMES);
  }
}
