package io.pmemcsi.operator.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;

class LivenessTest {

  private static final Duration LONG = Liveness.LIMIT.plusSeconds(1);

  private Instant now = Instant.EPOCH;
  private boolean watching = true;
  private long queued;
  private long finished;

  private final InstantSource clock = () -> now;
  private final Liveness liveness =
      new Liveness(clock, () -> watching, () -> queued, () -> finished);

  @Test
  void idleOperatorIsFine() {
    assertThat(liveness.problem()).isEmpty();
    now = now.plus(LONG);
    assertThat(liveness.problem()).isEmpty();
  }

  @Test
  void brokenWatchesAreAProblemOnceTheyStayBroken() {
    watching = false;
    assertThat(liveness.problem()).isEmpty();
    now = now.plus(LONG);
    assertThat(liveness.problem()).hasValueSatisfying(it -> assertThat(it).contains("watches"));

    watching = true;
    assertThat(liveness.problem()).isEmpty();
    watching = false;
    assertThat(liveness.problem()).isEmpty();
  }

  @Test
  void waitingResourcesAreAProblemWhenNothingGetsDone() {
    queued = 3;
    assertThat(liveness.problem()).isEmpty();
    now = now.plus(LONG);
    assertThat(liveness.problem())
        .hasValueSatisfying(it -> assertThat(it).contains("3 resources wait"));

    finished++;
    assertThat(liveness.problem()).isEmpty();
    now = now.plus(LONG);
    finished++;
    assertThat(liveness.problem()).isEmpty();
  }
}
