package io.pmemcsi.operator.facts;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;

/** Cached facts that are read again from time to time, because clusters get upgraded. */
public final class KnownFacts implements Supplier<ClusterFacts> {

  private static final Duration MAX_AGE = Duration.ofMinutes(10);

  private final Supplier<ClusterFacts> source;
  private final Clock clock;
  private ClusterFacts facts;
  private Instant readAt;

  /** Reads the facts at once, so that an unreachable cluster is noticed at the start. */
  public KnownFacts(Supplier<ClusterFacts> source, Clock clock) {
    this.source = source;
    this.clock = clock;
    this.facts = source.get();
    this.readAt = clock.instant();
  }

  @Override
  public synchronized ClusterFacts get() {
    Instant now = clock.instant();
    // read in the future: the clock was set back
    if (now.isAfter(readAt.plus(MAX_AGE)) || now.isBefore(readAt)) {
      facts = source.get();
      readAt = now;
    }
    return facts;
  }
}
