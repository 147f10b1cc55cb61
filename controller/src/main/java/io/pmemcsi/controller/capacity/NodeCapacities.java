package io.pmemcsi.controller.capacity;

import io.pmemcsi.controller.volume.NeededVolume;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The capacity of all nodes with what is reserved of it; every answer comes from memory. */
public final class NodeCapacities {

  /** The range of scores that the scheduler expects from an extender. */
  public static final int MAX_SCORE = 10;

  /** Older data says too little: the node may have lost its driver, or its space. */
  static final Duration MAX_AGE = Duration.ofMinutes(3);

  /** Says how old the data of a node is, and what to do if it is too old. */
  public interface Freshness {

    Duration age(Instant observed, Instant now);

    String remedy();
  }

  private final Map<String, NodeState> nodes = new HashMap<>();
  private final Reservations reservations = new Reservations();

  /** A node reports its capacity. */
  public void observe(String node, FreeCapacity free, Instant at) {
    observe(node, free, Map.of(), at);
  }

  /**
   * A node reports its capacity.
   *
   * @param freeByNumaNode the part of it that is on a NUMA node
   */
  public synchronized void observe(
      String node, FreeCapacity free, Map<String, FreeCapacity> freeByNumaNode, Instant at) {
    state(node).observe(free, freeByNumaNode, at);
    reservations.settle(at);
  }

  /** A node reports nothing any more. */
  public synchronized void forget(String node) {
    NodeState state = nodes.get(node);
    if (state != null) {
      state.forget();
      removeUnused(state);
    }
  }

  /**
   * Decides which nodes have capacity for the volumes of a pod, and holds it there.
   *
   * @param volumes at least one
   */
  public synchronized FilterResult filter(
      String pod,
      List<NeededVolume> volumes,
      List<String> names,
      Freshness freshness,
      Instant now) {
    reservations.release(pod);
    List<Demand> demands = Demand.of(volumes, reservations);
    Optional<String> nothing = FreeCapacity.NONE.refusal(volumes);
    var refused = new LinkedHashMap<String, String>();
    var fitting = new ArrayList<NodeState>(names.size());
    for (String name : names) {
      NodeState state = nodes.get(name);
      Optional<String> refusal = state == null ? nothing : refusal(state, demands, freshness, now);
      if (refusal.isEmpty() && state != null) {
        fitting.add(state);
      } else {
        refused.put(name, refusal.orElse(""));
      }
    }
    int limit = Math.max(1, fitting.size() >> Math.min(30, reservations.undecided()));
    if (fitting.size() > limit) {
      Set<NodeState> chosen = mostFree(fitting, limit);
      fitting.removeIf(
          state -> {
            boolean left = !chosen.contains(state);
            if (left) {
              refused.put(state.name(), "PMEM is kept for other pods that are being scheduled");
            }
            return left;
          });
    }
    reservations.hold(pod, volumes, fitting, now);
    return new FilterResult(
        refused.isEmpty() ? names : fitting.stream().map(NodeState::name).toList(), refused);
  }

  /**
   * Scores nodes by what is left of them when the pod's volumes exist: the more, the better.
   *
   * @return a score for each name
   */
  public synchronized int[] scores(String pod, List<NeededVolume> volumes, List<String> names) {
    var scores = new int[names.size()];
    if (volumes.isEmpty()) {
      return scores;
    }
    long need = reservations.holds(pod) ? 0 : FreeCapacity.total(volumes);
    // the scheduler asks about the nodes that passed, in their order: none has to be searched for
    List<NodeState> passed = reservations.nodesOf(pod);
    var left = new long[names.size()];
    long most = 0;
    for (int i = 0; i < left.length; i++) {
      String name = names.get(i);
      left[i] =
          i < passed.size() && passed.get(i).name().equals(name)
              ? left(passed.get(i), need)
              : left(nodes.get(name), need);
      most = Math.max(most, left[i]);
    }
    for (int i = 0; i < left.length && most > 0; i++) {
      scores[i] = (int) Math.round((double) MAX_SCORE * left[i] / most);
    }
    return scores;
  }

  /** A claim or pod shows where a volume will be created. */
  public synchronized void assign(NeededVolume volume, String node, Instant now) {
    reservations.assign(volume, state(node), now);
  }

  /** A claim shows that its volume will not be created, or not where it was meant to be. */
  public synchronized void unassign(String volume) {
    reservations.unassign(volume);
  }

  /**
   * A claim or pod shows that its volume exists; returns its node if capacity was reserved there.
   */
  public synchronized Optional<String> created(String volume, Instant now) {
    return reservations.created(volume, now).map(NodeState::name);
  }

  /** A pod does not need its hold any more. */
  public synchronized void release(String pod) {
    reservations.release(pod);
  }

  /** Ends reservations that have timed out. */
  public synchronized void expire(Instant now) {
    reservations.settle(now);
    List.copyOf(nodes.values()).forEach(this::removeUnused);
  }

  /** How many volumes have capacity reserved. */
  public synchronized int reservedVolumes() {
    return reservations.count();
  }

  /** The age of the oldest data; zero if there is none. */
  public synchronized Duration oldest(Freshness freshness, Instant now) {
    return nodes.values().stream()
        .filter(state -> state.free().isPresent())
        .map(state -> freshness.age(state.observed(), now))
        .max(Comparator.naturalOrder())
        .orElse(Duration.ZERO);
  }

  private static Optional<String> refusal(
      NodeState state, List<Demand> demands, Freshness freshness, Instant now) {
    if (state.free().isPresent()) {
      Duration age = freshness.age(state.observed(), now);
      if (age.compareTo(MAX_AGE) > 0) {
        return Optional.of(
            "retrieve capacity: the data is %d s old, more than %d s: %s"
                .formatted(age.toSeconds(), MAX_AGE.toSeconds(), freshness.remedy()));
      }
    }
    for (Demand demand : demands) {
      Optional<String> refusal = demand.refusal(state);
      if (refusal.isPresent()) {
        return refusal;
      }
    }
    return Optional.empty();
  }

  private static long left(@Nullable NodeState state, long need) {
    return state == null ? 0 : Math.max(0, state.available() - state.reserved() - need);
  }

  private static Set<NodeState> mostFree(List<NodeState> states, int limit) {
    return new HashSet<>(
        states.stream()
            .sorted(
                Comparator.comparingLong((NodeState state) -> state.available() - state.reserved())
                    .reversed())
            .limit(limit)
            .toList());
  }

  private NodeState state(String node) {
    return nodes.computeIfAbsent(node, NodeState::new);
  }

  private void removeUnused(NodeState state) {
    if (state.isUnused()) {
      nodes.remove(state.name());
    }
  }
}
