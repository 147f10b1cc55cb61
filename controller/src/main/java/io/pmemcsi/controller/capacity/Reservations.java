package io.pmemcsi.controller.capacity;

import io.pmemcsi.controller.volume.NeededVolume;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Capacity that is reserved for volumes which do not exist yet; guarded by the lock of {@link
 * NodeCapacities}. A reservation begins as a hold for a pod, on each node that passed the filter;
 * it becomes one for a node when the claim or pod shows the scheduler's decision; and it ends when
 * the volume exists and the reported capacity lacks it. Every step has a time-out: a volume that
 * cannot be provisioned must not keep others from its node.
 */
final class Reservations {

  /** A scheduler with a long queue of bindings may take this long to write its decision. */
  static final Duration UNDECIDED_LIMIT = Duration.ofMinutes(2);

  /** A provisioner that fails tries again for as long as the claim exists. */
  static final Duration PROVISIONING_LIMIT = Duration.ofMinutes(5);

  /**
   * For capacity reports that do not show a new volume, such as one made out of freed space. The
   * provisioner of a node notices an inline volume only when it polls the capacity, once a minute;
   * node metrics are read twice in this time, in case one attempt fails.
   */
  static final Duration UNREPORTED_LIMIT = Duration.ofSeconds(90);

  /**
   * Capacity for the volumes of a pod whose node is still open, or known to be the only one left.
   */
  private record Hold(Map<String, NeededVolume> volumes, List<NodeState> nodes, Instant since) {

    boolean undecided() {
      return nodes.size() > 1;
    }

    void reserve() {
      nodes.forEach(node -> volumes.values().forEach(node::reserve));
    }

    void release() {
      nodes.forEach(node -> volumes.values().forEach(node::release));
    }
  }

  /** Capacity on the node for which a volume is provisioned. */
  private record Assigned(
      NodeState node, NeededVolume volume, Instant since, @Nullable Instant created) {

    boolean isOver(Instant now) {
      return created == null
          ? !now.isBefore(since.plus(PROVISIONING_LIMIT))
          : node.reflects(volume) || !now.isBefore(created.plus(UNREPORTED_LIMIT));
    }
  }

  private final Map<String, Hold> holds = new HashMap<>();
  private final Map<String, String> podOfVolume = new HashMap<>();
  private final Map<String, Assigned> assigned = new LinkedHashMap<>();

  /**
   * Any client can ask for pods that do not exist. A pod beyond the limit passes without a hold: if
   * its node turns out to be full, the driver refuses the volume and the pod is scheduled again.
   */
  static final int MAX_HELD = 10_000;

  /** More than any node has: sums of such amounts do not overflow. */
  private static final long LARGEST = 1L << 50;

  /** Holds capacity for a pod on all of these nodes, in place of what was held for it before. */
  void hold(String pod, List<NeededVolume> volumes, List<NodeState> nodes, Instant now) {
    release(pod);
    var open = new LinkedHashMap<String, NeededVolume>();
    for (NeededVolume volume : volumes) {
      if (!assigned.containsKey(volume.key())) {
        open.put(volume.key(), volume);
      }
    }
    if (!open.isEmpty() && !nodes.isEmpty() && podOfVolume.size() + open.size() <= MAX_HELD) {
      open.keySet().forEach(volume -> podOfVolume.put(volume, pod));
      add(pod, new Hold(open, List.copyOf(nodes), now));
    }
  }

  /** Forgets the hold of a pod. */
  void release(String pod) {
    Hold hold = holds.remove(pod);
    if (hold != null) {
      hold.release();
      hold.volumes().keySet().forEach(podOfVolume::remove);
    }
  }

  /**
   * The decision is known: the volume will be created on this node. One that is larger than what
   * the node reports needs no reservation: either the report lacks it already, or it was not placed
   * by this extender and will be refused.
   */
  void assign(NeededVolume requested, NodeState node, Instant now) {
    var volume =
        new NeededVolume(
            requested.key(), Math.min(requested.bytes(), LARGEST), requested.numaNode());
    Assigned before = assigned.get(volume.key());
    if (before != null && before.node() == node && before.volume().equals(volume)) {
      return;
    }
    unassign(volume.key());
    if (node.mayTake(volume)) {
      assigned.put(volume.key(), new Assigned(node, volume, now, null));
      node.reserve(volume);
    } else {
      var _ = node.reflects(volume);
    }
    decided(volume.key(), node);
  }

  /** The volume will not be created, or not on that node. */
  void unassign(String volume) {
    Assigned before = assigned.remove(volume);
    if (before != null) {
      before.node().release(before.volume());
    }
  }

  /**
   * The volume exists; its capacity stays reserved until the reported capacity lacks it.
   *
   * @return the node, if the reservation is known
   */
  Optional<NodeState> created(String volume, Instant now) {
    Hold hold = holds.get(podOfVolume.getOrDefault(volume, ""));
    NeededVolume held = hold == null ? null : hold.volumes().get(volume);
    if (hold != null && held != null && !hold.undecided()) {
      assign(held, hold.nodes().getFirst(), now);
    } else if (hold != null) {
      removeFromHold(volume);
    }
    Assigned reservation = assigned.get(volume);
    if (reservation == null) {
      return Optional.empty();
    }
    if (reservation.created() == null) {
      assigned.put(
          volume, new Assigned(reservation.node(), reservation.volume(), reservation.since(), now));
    }
    settle(now);
    return Optional.of(reservation.node());
  }

  /** Ends the reservations whose volume is now reported, and those that have timed out. */
  void settle(Instant now) {
    assigned
        .values()
        .removeIf(
            reservation -> {
              boolean over = reservation.isOver(now);
              if (over) {
                reservation.node().release(reservation.volume());
              }
              return over;
            });
    List<String> late =
        holds.entrySet().stream()
            .filter(hold -> !now.isBefore(hold.getValue().since().plus(UNDECIDED_LIMIT)))
            .map(Map.Entry::getKey)
            .toList();
    late.forEach(this::release);
  }

  /** What is reserved on a node to these volumes themselves: it must not count against them. */
  Map<NodeState, Long> ofVolumes(List<NeededVolume> volumes) {
    var own = new HashMap<NodeState, Long>();
    for (NeededVolume volume : volumes) {
      Assigned reservation = assigned.get(volume.key());
      if (reservation != null) {
        own.merge(reservation.node(), reservation.volume().bytes(), Long::sum);
      }
    }
    return own;
  }

  /** The nodes on which capacity is held for a pod. */
  List<NodeState> nodesOf(String pod) {
    Hold hold = holds.get(pod);
    return hold == null ? List.of() : hold.nodes();
  }

  boolean holds(String pod) {
    return holds.containsKey(pod);
  }

  /** How many pods have more than one node left. */
  int undecided() {
    return (int) holds.values().stream().filter(Hold::undecided).count();
  }

  /** How many volumes have capacity reserved. */
  int count() {
    return assigned.size() + holds.values().stream().mapToInt(hold -> hold.volumes().size()).sum();
  }

  private void decided(String volume, NodeState node) {
    String pod = podOfVolume.get(volume);
    if (pod == null) {
      return;
    }
    removeFromHold(volume);
    Hold hold = holds.get(pod);
    if (hold != null && !hold.nodes().equals(List.of(node))) {
      hold.release();
      add(pod, new Hold(hold.volumes(), List.of(node), hold.since()));
    }
  }

  private void removeFromHold(String volume) {
    String pod = podOfVolume.remove(volume);
    Hold hold = pod == null ? null : holds.get(pod);
    if (pod == null || hold == null) {
      return;
    }
    hold.release();
    holds.remove(pod);
    var rest = new LinkedHashMap<>(hold.volumes());
    rest.remove(volume);
    if (!rest.isEmpty()) {
      add(pod, new Hold(rest, hold.nodes(), hold.since()));
    }
  }

  private void add(String pod, Hold hold) {
    holds.put(pod, hold);
    hold.reserve();
  }
}
