package io.pmemcsi.driver.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BackoffTest {

  private final Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(1));

  @Test
  void delaysDoubleUpToTheLimit() {
    assertThat(backoff.after(1, 1)).isEqualTo(Duration.ofMillis(100));
    assertThat(backoff.after(2, 1)).isEqualTo(Duration.ofMillis(200));
    assertThat(backoff.after(4, 1)).isEqualTo(Duration.ofMillis(800));
    assertThat(backoff.after(5, 1)).isEqualTo(Duration.ofSeconds(1));
    assertThat(backoff.after(Integer.MAX_VALUE, 1)).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void jitterShortensDelaysByUpToOneHalf() {
    assertThat(backoff.after(2, 0)).isEqualTo(Duration.ofMillis(100));
    assertThat(backoff.after(2, 0.5)).isEqualTo(Duration.ofMillis(150));
  }
}
