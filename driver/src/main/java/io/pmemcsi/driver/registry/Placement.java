package io.pmemcsi.driver.registry;

import csi.v1.Topology;
import csi.v1.TopologyRequirement;
import io.pmemcsi.base.names.DriverName;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Where a new volume may be, and where it should be.
 *
 * @param preferred nodes to try first, in this order
 * @param allowed empty if every node is allowed
 */
record Placement(List<String> preferred, Optional<Set<String>> allowed) {

  /** What a node reports. */
  record NodeCapacity(long available, long largestVolume) {}

  Placement {
    preferred = List.copyOf(preferred);
    allowed = allowed.map(Set::copyOf);
  }

  /**
   * Reads the topology of a CreateVolume request. A topology without this driver's key says nothing
   * about nodes, so it holds for all of them.
   */
  static Placement of(DriverName driver, TopologyRequirement requirement) {
    String key = driver.topologyKey();
    List<Topology> requisite = requirement.getRequisiteList();
    boolean anywhere =
        requisite.isEmpty() || requisite.stream().anyMatch(each -> !each.containsSegments(key));
    return new Placement(
        nodes(key, requirement.getPreferredList()),
        anywhere ? Optional.empty() : Optional.of(new TreeSet<>(nodes(key, requisite))));
  }

  private static List<String> nodes(String key, List<Topology> places) {
    return places.stream()
        .filter(place -> place.containsSegments(key))
        .map(place -> place.getSegmentsOrThrow(key))
        .distinct()
        .toList();
  }

  boolean allows(String nodeId) {
    return allowed.map(nodes -> nodes.contains(nodeId)).orElse(true);
  }

  /** Those of the nodes that are allowed. */
  List<String> among(Collection<String> nodeIds) {
    return nodeIds.stream().filter(this::allows).sorted().toList();
  }

  /**
   * The nodes with enough capacity, the best one first: preferred nodes in their order, then the
   * one with most capacity left.
   */
  List<String> order(Map<String, NodeCapacity> capacities, long requiredBytes) {
    List<String> fitting =
        capacities.entrySet().stream()
            .filter(each -> allows(each.getKey()))
            .filter(each -> each.getValue().largestVolume() >= requiredBytes)
            .sorted(
                Comparator.comparingLong(
                        (Map.Entry<String, NodeCapacity> each) -> -each.getValue().available())
                    .thenComparing(Map.Entry::getKey))
            .map(Map.Entry::getKey)
            .toList();
    return Stream.concat(preferred.stream().filter(fitting::contains), fitting.stream())
        .distinct()
        .toList();
  }
}
