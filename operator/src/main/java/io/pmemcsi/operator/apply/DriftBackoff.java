package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
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
 * Remembers which objects somebody else changes or deletes again and again. What changes once in a
 * while is mended at once; where a rival answers each time, both would write without end, so the
 * operator waits before it mends such an object again, and names the rival. Nothing is lost with
 * this memory: an operator that starts anew finds out anew.
 */
public final class DriftBackoff {

  /** How long an object that is disputed is left as the rival made it. */
  public static final Duration PAUSE = Duration.ofSeconds(10);

  /** So often within so short a time nobody changes an object by hand. */
  private static final int OFTEN = 5;

  private static final Duration SHORT = Duration.ofMinutes(1);

  private final Map<String, Book> books = new ConcurrentHashMap<>();
  private final Clock clock;

  public DriftBackoff(Clock clock) {
    this.clock = clock;
  }

  /**
   * An object that others keep changing.
   *
   * @param rivals the field managers that do it; none where somebody deletes it, which no object
   *     shows
   */
  public record Dispute(ObjectRef object, List<String> rivals) {}

  /** What is known about the objects of one owner, as long as its own wishes stay the same. */
  private record Book(long generation, Map<ObjectRef, Entry> entries) {}

  /** When an object was mended, the last times, and who had changed it. */
  private record Entry(List<Instant> mended, List<String> rivals) {

    Entry and(Instant now, List<String> others) {
      var times = new ArrayList<>(mended);
      times.add(now);
      return new Entry(
          List.copyOf(times.subList(Math.max(0, times.size() - OFTEN), times.size())), others);
    }

    boolean disputed() {
      return mended.size() == OFTEN && mended.getFirst().plus(SHORT).isAfter(mended.getLast());
    }

    /** A clock that was set back is no reason to rest until it is as late again. */
    boolean rests(Instant now) {
      return now.isBefore(mended.getLast().plus(PAUSE)) && !now.isBefore(mended.getLast());
    }
  }

  /** The same cluster, seen by somebody who does not fight without end. */
  public Cluster patient(
      Cluster cluster,
      Owner owner,
      long generation,
      String fieldManager,
      KubernetesSerialization serialization) {
    return new BackoffCluster(
        cluster, new ConflictingManagers(fieldManager, serialization), page(owner, generation));
  }

  /** What is known from before counts only as long as the owner wants the same. */
  Page page(Owner owner, long generation) {
    Book known = books.get(owner.uid());
    if (known != null && known.generation() == generation) {
      return new Page(known.entries(), clock, false);
    }
    // nobody else writes here: an owner is looked at by one walk at a time
    var fresh = new Book(generation, new ConcurrentHashMap<>());
    books.put(owner.uid(), fresh);
    return new Page(fresh.entries(), clock, true);
  }

  /** The objects of an owner that are disputed now. */
  public List<Dispute> of(Owner owner) {
    Book book = books.get(owner.uid());
    return book == null
        ? List.of()
        : book.entries().entrySet().stream()
            .filter(entry -> entry.getValue().disputed())
            .map(entry -> new Dispute(entry.getKey(), entry.getValue().rivals()))
            .sorted(Comparator.comparing(dispute -> dispute.object().toString()))
            .toList();
  }

  public void forget(Owner owner) {
    books.remove(owner.uid());
  }

  /**
   * What one walk reads and writes.
   *
   * @param first whether nothing can be known from before
   */
  record Page(Map<ObjectRef, Entry> entries, Clock clock, boolean first) {

    /** Whether an object is to be left as a rival made it, for now. */
    boolean rests(HasMetadata object) {
      return Optional.ofNullable(entries.get(ObjectRef.of(object)))
          .filter(Entry::disputed)
          .filter(entry -> entry.rests(clock.instant()))
          .isPresent();
    }

    void mended(HasMetadata object, List<String> rivals) {
      entries.merge(
          ObjectRef.of(object),
          new Entry(List.of(clock.instant()), rivals),
          (known, now) -> known.and(now.mended().getFirst(), rivals));
    }

    /** It is as it should be: if it has stayed so for a while, the rival has given up. */
    void found(HasMetadata object) {
      entries.computeIfPresent(
          ObjectRef.of(object), (_, entry) -> entry.rests(clock.instant()) ? entry : null);
    }
  }
}
