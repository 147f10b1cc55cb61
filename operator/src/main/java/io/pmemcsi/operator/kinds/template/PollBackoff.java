package io.pmemcsi.operator.kinds.template;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** How soon to look whether something is gone that is not watched. */
final class PollBackoff {

  private static final Duration SOON = Duration.ofSeconds(2);
  private static final Duration LATE = Duration.ofMinutes(1);
  private static final int SHARE = 4;

  private PollBackoff() {}

  /**
   * The longer it lasts the longer the pause: a quarter of the time that has passed.
   *
   * @param since when it was first seen
   */
  static Duration after(Optional<Instant> since, Instant now) {
    Duration passed =
        since.map(begin -> Duration.between(begin, now).dividedBy(SHARE)).orElse(SOON);
    return passed.compareTo(SOON) < 0 ? SOON : passed.compareTo(LATE) > 0 ? LATE : passed;
  }
}
