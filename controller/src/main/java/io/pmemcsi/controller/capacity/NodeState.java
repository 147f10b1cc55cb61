package io.pmemcsi.controller.capacity;

import io.pmemcsi.controller.volume.NeededVolume;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** What is known about one node; guarded by the lock of {@link NodeCapacities}. */
final class NodeState {

  private final String name;
  private final Space whole = new Space();

  /** Only NUMA nodes that a storage class or a volume asks for. */
  private final Map<String, Space> numaNodes = new HashMap<>();

  private Instant observed = Instant.EPOCH;

  NodeState(String name) {
    this.name = name;
  }

  String name() {
    return name;
  }

  /** Empty if the node reports nothing. */
  Optional<FreeCapacity> free() {
    return whole.free();
  }

  /** What all new volumes together can take; 0 if that is not known. */
  long available() {
    return whole.available();
  }

  long reserved() {
    return whole.reserved();
  }

  Instant observed() {
    return observed;
  }

  /** Whether nothing is reported and nothing is reserved. */
  boolean isUnused() {
    return whole.isUnused() && numaNodes.isEmpty();
  }

  void observe(FreeCapacity free, Map<String, FreeCapacity> freeByNumaNode, Instant at) {
    whole.observe(free);
    numaNodes.forEach(
        (numaNode, space) -> {
          if (!freeByNumaNode.containsKey(numaNode)) {
            space.forget();
          }
        });
    freeByNumaNode.forEach((numaNode, part) -> space(numaNode).observe(part));
    numaNodes.values().removeIf(Space::isUnused);
    observed = at;
  }

  void forget() {
    whole.forget();
    numaNodes.values().forEach(Space::forget);
    numaNodes.values().removeIf(Space::isUnused);
  }

  /**
   * What is left beside the reservations.
   *
   * @param own reserved for the volumes in question, which does not count against them
   */
  FreeCapacity left(long own) {
    return whole.free().orElse(FreeCapacity.NONE).without(whole.reserved() - own);
  }

  /**
   * What is left on a NUMA node; empty if that is not reported. Volumes that may be on any NUMA
   * node could all come to be on this one.
   */
  Optional<FreeCapacity> left(String numaNode, long own) {
    Space part = numaNodes.get(numaNode);
    if (part == null || part.free().isEmpty()) {
      return Optional.empty();
    }
    long elsewhere = numaNodes.values().stream().mapToLong(Space::reserved).sum() - part.reserved();
    return part.free().map(free -> free.without(whole.reserved() - elsewhere - own));
  }

  /** Whether a volume can be created at all, by what the node has reported last. */
  boolean mayTake(NeededVolume volume) {
    return whole.mayTake(volume.bytes())
        && part(volume).map(space -> space.mayTake(volume.bytes())).orElse(true);
  }

  void reserve(NeededVolume volume) {
    whole.reserve(volume.bytes());
    if (!volume.numaNode().isEmpty()) {
      space(volume.numaNode()).reserve(volume.bytes());
    }
  }

  void release(NeededVolume volume) {
    whole.release(volume.bytes());
    part(volume)
        .ifPresent(
            space -> {
              space.release(volume.bytes());
              if (space.isUnused()) {
                numaNodes.remove(volume.numaNode());
              }
            });
  }

  /** Whether the reported free space already lacks a volume; counted only once. */
  boolean reflects(NeededVolume volume) {
    Optional<Space> part = part(volume);
    if (!whole.lacks(volume.bytes())
        || part.filter(space -> space.free().isPresent() && !space.lacks(volume.bytes()))
            .isPresent()) {
      return false;
    }
    whole.count(volume.bytes());
    part.ifPresent(space -> space.count(volume.bytes()));
    return true;
  }

  /** The NUMA node of a volume, if it names one of which something is reported or reserved. */
  private Optional<Space> part(NeededVolume volume) {
    return Optional.ofNullable(numaNodes.get(volume.numaNode()));
  }

  private Space space(String numaNode) {
    return numaNodes.computeIfAbsent(numaNode, _ -> new Space());
  }
}
