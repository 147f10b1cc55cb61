package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.operator.apply.ssa.FieldManager;
import io.pmemcsi.operator.facts.RequeuePeriods;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Detects objects that another field manager or a user changes or deletes again and again. Drift is
 * reverted at once; but where it comes back every time, both sides would write without end, so the
 * operator backs off and names the other manager. The state is kept in memory only: a restarted
 * operator detects the contention again.
 */
public final class DriftBackoff {

  /** No user reverts an object by hand this often within {@link #WINDOW}. */
  private static final int THRESHOLD = 5;

  private static final Duration WINDOW = Duration.ofMinutes(1);

  private final Map<String, Generation> generations = new ConcurrentHashMap<>();
  private final Clock clock;

  public DriftBackoff(Clock clock) {
    this.clock = clock;
  }

  /**
   * An object whose drift comes back.
   *
   * @param managers the conflicting field managers; none where the object is deleted, because no
   *     object records that
   */
  public record Contention(ObjectRef object, List<String> managers) {}

  /** The reverted objects of an owner's generation. */
  private record Generation(long number, Map<ObjectRef, Reverts> reverts) {}

  /** The last times when drift of an object was reverted, and the managers that caused it. */
  private record Reverts(List<Instant> times, List<String> managers) {

    Reverts and(Instant now, List<String> latest) {
      var all = new ArrayList<>(times);
      all.add(now);
      return new Reverts(
          List.copyOf(all.subList(Math.max(0, all.size() - THRESHOLD), all.size())), latest);
    }

    boolean isContended() {
      return times.size() == THRESHOLD && times.getFirst().plus(WINDOW).isAfter(times.getLast());
    }

    /** A clock that was set back does not prolong the back-off. */
    boolean isRecent(Instant now) {
      return now.isBefore(times.getLast().plus(RequeuePeriods.DEFAULT.contended()))
          && !now.isBefore(times.getLast());
    }
  }

  /** The same cluster, in which contended objects are in back-off. */
  public Cluster wrap(
      Cluster cluster,
      Owner owner,
      long generation,
      String fieldManager,
      KubernetesSerialization serialization) {
    return new BackoffCluster(
        cluster, new FieldManager(fieldManager, serialization), history(owner, generation));
  }

  /** Starts again with each generation: a new desired state is applied at once. */
  History history(Owner owner, long generation) {
    Generation known = generations.get(owner.uid());
    if (known != null && known.number() == generation) {
      return new History(known.reverts(), clock, false);
    }
    // no race: an owner is reconciled by one thread at a time
    var fresh = new Generation(generation, new ConcurrentHashMap<>());
    generations.put(owner.uid(), fresh);
    return new History(fresh.reverts(), clock, true);
  }

  /** The contended objects of an owner. */
  public List<Contention> contentions(Owner owner) {
    Generation known = generations.get(owner.uid());
    return known == null
        ? List.of()
        : known.reverts().entrySet().stream()
            .filter(entry -> entry.getValue().isContended())
            .map(entry -> new Contention(entry.getKey(), entry.getValue().managers()))
            .sorted(Comparator.comparing(contention -> contention.object().toString()))
            .toList();
  }

  /** Drops the state of a deleted owner. */
  public void forget(Owner owner) {
    generations.remove(owner.uid());
  }

  /**
   * The state that one reconciliation reads and writes.
   *
   * @param isNew whether this is the first reconciliation of a generation
   */
  record History(Map<ObjectRef, Reverts> reverts, Clock clock, boolean isNew) {

    boolean inBackoff(HasMetadata object) {
      return Optional.ofNullable(reverts.get(ObjectRef.of(object)))
          .filter(Reverts::isContended)
          .filter(known -> known.isRecent(clock.instant()))
          .isPresent();
    }

    /** Records that drift was reverted. */
    void reverted(HasMetadata object, List<String> managers) {
      reverts.merge(
          ObjectRef.of(object),
          new Reverts(List.of(clock.instant()), managers),
          (known, now) -> known.and(now.times().getFirst(), managers));
    }

    /** Records that the object is as desired: after an interval without drift contention ends. */
    void observed(HasMetadata object) {
      reverts.computeIfPresent(
          ObjectRef.of(object), (_, known) -> known.isRecent(clock.instant()) ? known : null);
    }
  }
}
