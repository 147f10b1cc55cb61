package io.pmemcsi.operator.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class DisputesTest {

  private static final Owner OWNER = new Owner("v1", "Kind", "", "name", "uid");
  private static final ConfigMap OBJECT =
      new ConfigMapBuilder().withNewMetadata().withName("a").endMetadata().build();

  private final HandClock clock = new HandClock();
  private final Disputes disputes = new Disputes(clock);

  @Test
  void fewChangesAreNoDispute() {
    mend(4, Duration.ofSeconds(1));

    assertThat(page().rests(OBJECT)).isFalse();
    assertThat(disputes.of(OWNER)).isEmpty();
  }

  @Test
  void changesNowAndThenAreNoDispute() {
    mend(50, Duration.ofSeconds(20));

    assertThat(page().rests(OBJECT)).isFalse();
    assertThat(disputes.of(OWNER)).isEmpty();
  }

  @Test
  void disputedObjectRestsAndIsMendedAgainAfterAPause() {
    mend(5, Duration.ofSeconds(1));
    assertThat(page().rests(OBJECT)).isTrue();
    assertThat(disputes.of(OWNER))
        .containsExactly(new Disputes.Dispute(ObjectRef.of(OBJECT), List.of("rival")));

    clock.pass(Disputes.PAUSE);

    assertThat(page().rests(OBJECT)).isFalse();
    page().mended(OBJECT, List.of("rival"));
    assertThat(page().rests(OBJECT)).isTrue();
    assertThat(disputes.of(OWNER)).hasSize(1);
  }

  @Test
  void disputeEndsWhenTheObjectHasStayedAsWantedForAPause() {
    mend(5, Duration.ofSeconds(1));

    page().found(OBJECT);
    assertThat(disputes.of(OWNER)).hasSize(1);

    clock.pass(Disputes.PAUSE);
    page().found(OBJECT);
    assertThat(disputes.of(OWNER)).isEmpty();
  }

  @Test
  void whatTheOwnerWantsNowIsWrittenAtOnce() {
    mend(5, Duration.ofSeconds(1));

    assertThat(disputes.page(OWNER, 2).rests(OBJECT)).isFalse();
    assertThat(disputes.of(OWNER)).isEmpty();
  }

  @Test
  void objectsAndOwnersAreToldApart() {
    mend(5, Duration.ofSeconds(1));
    var other = new ConfigMapBuilder().withNewMetadata().withName("other").endMetadata().build();

    assertThat(page().rests(other)).isFalse();
    assertThat(disputes.of(new Owner("v1", "Kind", "", "name", "another"))).isEmpty();
    disputes.forget(OWNER);
    assertThat(disputes.of(OWNER)).isEmpty();
  }

  private void mend(int times, Duration apart) {
    for (int i = 0; i < times; i++) {
      clock.pass(apart);
      page().mended(OBJECT, List.of("rival"));
    }
  }

  private Disputes.Page page() {
    return disputes.page(OWNER, 1);
  }

  /** Moves only when it is told to. */
  private static final class HandClock extends Clock {
    private Instant now = Instant.parse("2030-01-01T00:00:00Z");

    void pass(Duration time) {
      now = now.plus(time);
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      throw new UnsupportedOperationException("only the instant counts");
    }

    @Override
    public Instant instant() {
      return now;
    }
  }
}
