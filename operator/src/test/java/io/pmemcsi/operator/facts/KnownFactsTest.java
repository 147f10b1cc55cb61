package io.pmemcsi.operator.facts;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class KnownFactsTest {

  private Instant now = Instant.parse("2030-01-01T00:00:00Z");
  private final InstantSource clock = () -> now;
  private final AtomicInteger reads = new AtomicInteger();
  private final KnownFacts facts =
      new KnownFacts(
          () ->
              ClusterFacts.assumed(
                  new KubernetesVersion(1, 30 + reads.getAndIncrement()), "ns", "image"),
          clock.withZone(ZoneOffset.UTC));

  @Test
  void factsAreReadAgainAfterTheirMaximumAge() {
    assertThat(facts.get().version().minor()).isEqualTo(30);
    now = now.plus(Duration.ofMinutes(10));
    assertThat(facts.get().version().minor()).isEqualTo(30);

    now = now.plusSeconds(1);

    assertThat(facts.get().version().minor()).isEqualTo(31);
    assertThat(facts.get().version().minor()).isEqualTo(31);
  }

  @Test
  void factsAreNotKeptLongerWhenTheClockIsSetBack() {
    now = now.minus(Duration.ofDays(1));

    assertThat(facts.get().version().minor()).isEqualTo(31);
    assertThat(facts.get().version().minor()).isEqualTo(31);
  }
}
