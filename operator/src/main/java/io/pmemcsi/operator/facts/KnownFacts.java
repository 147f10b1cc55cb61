package io.pmemcsi.operator.facts;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;

/** Facts that are asked for again from time to time, because clusters get upgraded. */
public final class KnownFacts implements Supplier<ClusterFacts> {

  private static final Duration FRESH = Duration.ofMinutes(10);

  private final Supplier<ClusterFacts> source;
  private final Clock clock;
  private ClusterFacts facts;
  private Instant asked;

  /** Asks at once, so that a cluster that cannot be reached is noticed at the start. */
  public KnownFacts(Supplier<ClusterFacts> source, Clock clock) {
    this.source = source;
    this.clock = clock;
    this.facts = source.get();
    this.asked = clock.instant();
  }

  @Override
  public synchronized ClusterFacts get() {
    Instant now = clock.instant();
    // asked in the future: the clock was set back
    if (now.isAfter(asked.plus(FRESH)) || now.isBefore(asked)) {
      facts = source.get();
      asked = now;
    }
    return facts;
  }
}
