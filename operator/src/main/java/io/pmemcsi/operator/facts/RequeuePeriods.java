package io.pmemcsi.operator.facts;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * How soon to reconcile again where no event will trigger it.
 *
 * @param soon at first, while something is in the way that is not watched
 * @param late at last, when it has been in the way for long
 * @param refused after a refusal by the server: a taken node port may become free
 * @param contended while drift comes back each time: until then it is not reverted
 * @param pods while pods are not ready: a container that ends does not change the workload's counts
 * @param nodes while nodes have no usable memory
 * @param latest at the latest, while a date is awaited
 * @param deletion while a deletion is held
 * @param update while pods are updated node by node
 */
public record RequeuePeriods(
    Duration soon,
    Duration late,
    Duration refused,
    Duration contended,
    Duration pods,
    Duration nodes,
    Duration latest,
    Deletion deletion,
    Update update) {

  /**
   * While a deletion is held; volumes, attachments, pods and snapshots are not watched.
   *
   * @param byFew by few of them
   * @param byMany by so many that counting them is expensive and the end is far away
   */
  public record Deletion(Duration byFew, Duration byMany) {}

  /**
   * While pods are updated node by node.
   *
   * @param busy while a node is drained or its pod is replaced
   * @param idle while the update waits
   * @param onDelete with strategy OnDelete: users may delete driver pods weeks later, and each
   *     deletion triggers a reconciliation anyway
   */
  public record Update(Duration busy, Duration idle, Duration onDelete) {}

  public static final RequeuePeriods DEFAULT =
      new RequeuePeriods(
          Duration.ofSeconds(2),
          Duration.ofMinutes(1),
          Duration.ofSeconds(30),
          Duration.ofSeconds(10),
          Duration.ofSeconds(15),
          Duration.ofMinutes(1),
          Duration.ofDays(1),
          new Deletion(Duration.ofSeconds(5), Duration.ofMinutes(1)),
          new Update(Duration.ofSeconds(1), Duration.ofSeconds(20), Duration.ofMinutes(1)));

  private static final int SHARE = 4;

  /**
   * Backs off: a quarter of the time for which a problem has existed.
   *
   * @param since when it was first seen
   */
  public Duration backOff(Optional<Instant> since, Instant now) {
    return within(
        since.map(begin -> Duration.between(begin, now).dividedBy(SHARE)).orElse(soon), late);
  }

  /** Until a date, within bounds. */
  public Duration until(Instant date, Instant now) {
    return within(Duration.between(now, date), latest);
  }

  private Duration within(Duration period, Duration most) {
    return period.compareTo(soon) < 0 ? soon : period.compareTo(most) > 0 ? most : period;
  }
}
