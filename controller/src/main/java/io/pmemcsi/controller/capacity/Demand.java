package io.pmemcsi.controller.capacity;

import io.pmemcsi.controller.volume.NeededVolume;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Volumes of a pod that must fit together on a node or on one of its NUMA nodes.
 *
 * @param numaNode empty for anywhere on the node
 * @param total what all of them take
 * @param biggest the largest single one
 * @param own what is reserved for the pod's own volumes already, and must not count against them
 */
record Demand(String numaNode, long total, long biggest, Map<NodeState, Long> own) {

  /** All volumes, then those for each NUMA node. */
  static List<Demand> of(List<NeededVolume> volumes, Reservations reservations) {
    var demands = new ArrayList<Demand>();
    List<NeededVolume> anywhere = on("", volumes);
    demands.add(
        new Demand(
            "",
            FreeCapacity.total(volumes),
            FreeCapacity.largest(anywhere),
            reservations.ofVolumes(volumes)));
    volumes.stream()
        .map(NeededVolume::numaNode)
        .filter(numaNode -> !numaNode.isEmpty())
        .distinct()
        .forEach(
            numaNode -> {
              List<NeededVolume> there = on(numaNode, volumes);
              var counted = new ArrayList<>(anywhere);
              counted.addAll(there);
              demands.add(
                  new Demand(
                      numaNode,
                      FreeCapacity.total(there),
                      FreeCapacity.largest(there),
                      reservations.ofVolumes(counted)));
            });
    return demands;
  }

  private static List<NeededVolume> on(String numaNode, List<NeededVolume> volumes) {
    return volumes.stream().filter(volume -> volume.numaNode().equals(numaNode)).toList();
  }

  /** Why the node does not have the capacity; empty if it has. */
  Optional<String> refusal(NodeState state) {
    long reserved = own.getOrDefault(state, 0L);
    return numaNode.isEmpty()
        ? state.left(reserved).refusal(total, biggest)
        : state
            .left(numaNode, reserved)
            // not reported: then the whole node says what is known
            .orElseGet(() -> state.left(reserved))
            .refusal(total, biggest)
            .map(refusal -> refusal + " on NUMA node " + numaNode);
  }
}
