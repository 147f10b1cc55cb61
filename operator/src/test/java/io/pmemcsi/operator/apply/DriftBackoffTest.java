package io.pmemcsi.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class DriftBackoffTest {

  private static final Owner OWNER = new Owner("v1", "Kind", "", "name", "uid");
  private static final ConfigMap OBJECT =
      new ConfigMapBuilder().withNewMetadata().withName("a").endMetadata().build();

  private Instant now = Instant.parse("2030-01-01T00:00:00Z");
  private final InstantSource clock = () -> now;
  private final DriftBackoff disputes = new DriftBackoff(clock.withZone(ZoneOffset.UTC));

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
        .containsExactly(new DriftBackoff.Dispute(ObjectRef.of(OBJECT), List.of("rival")));

    now = now.plus(DriftBackoff.PAUSE);

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

    now = now.plus(DriftBackoff.PAUSE);
    page().found(OBJECT);
    assertThat(disputes.of(OWNER)).isEmpty();
  }

  @Test
  void disputedObjectDoesNotRestLongerWhenTheClockIsSetBack() {
    mend(5, Duration.ofSeconds(1));

    now = now.minus(Duration.ofHours(1));

    assertThat(page().rests(OBJECT)).isFalse();
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

  @Test
  void onlyTheFirstLookAtWhatTheOwnerWantsIsTheFirst() {
    assertThat(page().first()).isTrue();
    assertThat(page().first()).isFalse();
    assertThat(disputes.page(OWNER, 2).first()).isTrue();
  }

  private void mend(int times, Duration apart) {
    for (int i = 0; i < times; i++) {
      now = now.plus(apart);
      page().mended(OBJECT, List.of("rival"));
    }
  }

  private DriftBackoff.Page page() {
    return disputes.page(OWNER, 1);
  }
}
