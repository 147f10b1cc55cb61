package io.pmemcsi.operator.runtime;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether a new process would do better than this one: when watches stay broken, or when resources
 * wait and nothing gets done. Either may last a while for good reasons, such as an API server that
 * is being upgraded, which a restart would not cure.
 */
final class Liveness {

  static final Duration LIMIT = Duration.ofMinutes(10);

  private final InstantSource clock;
  private final BooleanSupplier watching;
  private final LongSupplier queued;
  private final LongSupplier finished;
  private @Nullable Instant brokenSince;
  private @Nullable Instant stuckSince;
  private long lastFinished;

  /**
   * The liveness of a running operator.
   *
   * @param watching whether every watch works
   * @param queued how many resources wait
   * @param finished how many runs have ended so far
   */
  Liveness(
      InstantSource clock, BooleanSupplier watching, LongSupplier queued, LongSupplier finished) {
    this.clock = clock;
    this.watching = watching;
    this.queued = queued;
    this.finished = finished;
  }

  /** Called every few seconds by the liveness probe. */
  synchronized Optional<String> problem() {
    Instant now = clock.instant();
    brokenSince = watching.getAsBoolean() ? null : brokenSince == null ? now : brokenSince;
    long done = finished.getAsLong();
    boolean stuck = queued.getAsLong() > 0 && done == lastFinished;
    lastFinished = done;
    stuckSince = !stuck ? null : stuckSince == null ? now : stuckSince;
    if (brokenSince != null && brokenSince.plus(LIMIT).isBefore(now)) {
      return Optional.of("watches have been broken since " + brokenSince);
    }
    if (stuckSince != null && stuckSince.plus(LIMIT).isBefore(now)) {
      return Optional.of(
          "%d resources wait, and no run has ended since %s"
              .formatted(queued.getAsLong(), stuckSince));
    }
    return Optional.empty();
  }
}
