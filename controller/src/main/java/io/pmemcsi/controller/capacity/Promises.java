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
 * Room that is promised to volumes which do not exist yet; guarded by the lock of {@link
 * NodeCapacities}. A promise begins as a hold for a pod, on each node that passed the filter; it
 * becomes one for a node when the claim or pod shows the scheduler's decision; and it ends when the
 * volume exists and the reported capacity lacks it.
 */
final class Promises {

  /** A scheduler with a long queue of bindings may take this long to write its decision. */
  static final Duration UNDECIDED_LIMIT = Duration.ofMinutes(2);

  /** For capacity reports that do not show a new volume, such as one made out of freed space. */
  static final Duration UNREPORTED_LIMIT = Duration.ofSeconds(30);

  /** Room for the volumes of a pod whose node is still open, or known to be the only one left. */
  private record Hold(Map<String, Long> volumes, long bytes, List<NodeState> nodes, Instant since) {

    Hold(Map<String, Long> volumes, List<NodeState> nodes, Instant since) {
      this(volumes, volumes.values().stream().mapToLong(Long::longValue).sum(), nodes, since);
    }

    boolean undecided() {
      return nodes.size() > 1;
    }
  }

  /** Room on the node for which a volume is provisioned. */
  private record Assigned(NodeState node, long bytes, @Nullable Instant created) {}

  private final Map<String, Hold> holds = new HashMap<>();
  private final Map<String, String> podOfVolume = new HashMap<>();
  private final Map<String, Assigned> assigned = new LinkedHashMap<>();

  /** Holds room for a pod on all of these nodes, in place of what was held for it before. */
  void hold(String pod, List<NeededVolume> volumes, List<NodeState> nodes, Instant now) {
    release(pod);
    var open = new LinkedHashMap<String, Long>();
    for (NeededVolume volume : volumes) {
      if (!assigned.containsKey(volume.key())) {
        open.put(volume.key(), volume.bytes());
      }
    }
    if (!open.isEmpty() && !nodes.isEmpty()) {
      open.keySet().forEach(volume -> podOfVolume.put(volume, pod));
      add(pod, new Hold(open, List.copyOf(nodes), now));
    }
  }

  /** Forgets the hold of a pod. */
  void release(String pod) {
    Hold hold = holds.remove(pod);
    if (hold != null) {
      hold.nodes().forEach(node -> node.release(hold.bytes()));
      hold.volumes().keySet().forEach(podOfVolume::remove);
    }
  }

  /** The decision is known: the volume will be created on this node. */
  void assign(String volume, long bytes, NodeState node) {
    Assigned before = assigned.get(volume);
    if (before != null && before.node() == node && before.bytes() == bytes) {
      return;
    }
    unassign(volume);
    assigned.put(volume, new Assigned(node, bytes, null));
    node.promise(bytes);
    decided(volume, node);
  }

  /** The volume will not be created, or not on that node. */
  void unassign(String volume) {
    Assigned before = assigned.remove(volume);
    if (before != null) {
      before.node().release(before.bytes());
    }
  }

  /**
   * The volume exists; its room stays promised until the reported capacity lacks it.
   *
   * @return the node, if the promise is known
   */
  Optional<NodeState> created(String volume, Instant now) {
    Hold hold = holds.get(podOfVolume.getOrDefault(volume, ""));
    if (hold != null && !hold.undecided()) {
      assign(volume, hold.volumes().getOrDefault(volume, 0L), hold.nodes().getFirst());
    } else if (hold != null) {
      removeFromHold(volume);
    }
    Assigned promise = assigned.get(volume);
    if (promise == null) {
      return Optional.empty();
    }
    if (promise.created() == null) {
      assigned.put(volume, new Assigned(promise.node(), promise.bytes(), now));
    }
    settle(now);
    return Optional.of(promise.node());
  }

  /** Ends the promises that have come true and those that have timed out. */
  void settle(Instant now) {
    assigned
        .values()
        .removeIf(
            promise -> {
              boolean over =
                  promise.created() != null
                      && (promise.node().reflects(promise.bytes())
                          || !now.isBefore(promise.created().plus(UNREPORTED_LIMIT)));
              if (over) {
                promise.node().release(promise.bytes());
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

  /** What is promised on a node to these volumes themselves: it must not count against them. */
  Map<NodeState, Long> ofVolumes(List<NeededVolume> volumes) {
    var own = new HashMap<NodeState, Long>();
    for (NeededVolume volume : volumes) {
      Assigned promise = assigned.get(volume.key());
      if (promise != null) {
        own.merge(promise.node(), promise.bytes(), Long::sum);
      }
    }
    return own;
  }

  boolean holds(String pod) {
    return holds.containsKey(pod);
  }

  /** How many pods have more than one node left. */
  int undecided() {
    return (int) holds.values().stream().filter(Hold::undecided).count();
  }

  /** How many volumes have room promised. */
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
      hold.nodes().forEach(other -> other.release(hold.bytes()));
      add(pod, new Hold(hold.volumes(), List.of(node), hold.since()));
    }
  }

  private void removeFromHold(String volume) {
    String pod = podOfVolume.remove(volume);
    Hold hold = pod == null ? null : holds.get(pod);
    if (pod == null || hold == null) {
      return;
    }
    hold.nodes().forEach(node -> node.release(hold.bytes()));
    holds.remove(pod);
    var rest = new LinkedHashMap<>(hold.volumes());
    rest.remove(volume);
    if (!rest.isEmpty()) {
      add(pod, new Hold(rest, hold.nodes(), hold.since()));
    }
  }

  private void add(String pod, Hold hold) {
    holds.put(pod, hold);
    hold.nodes().forEach(node -> node.promise(hold.bytes()));
  }
}
