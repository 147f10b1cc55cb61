package io.pmemcsi.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.pmemcsi.operator.facts.RequeuePeriods;
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
  private final DriftBackoff backoff = new DriftBackoff(clock.withZone(ZoneOffset.UTC));

  @Test
  void fewRevertsAreNoContention() {
    revert(4, Duration.ofSeconds(1));

    assertThat(history().inBackoff(OBJECT)).isFalse();
    assertThat(backoff.contentions(OWNER)).isEmpty();
  }

  @Test
  void rareRevertsAreNoContention() {
    revert(50, Duration.ofSeconds(20));

    assertThat(history().inBackoff(OBJECT)).isFalse();
    assertThat(backoff.contentions(OWNER)).isEmpty();
  }

  @Test
  void contendedObjectIsRevertedOncePerInterval() {
    revert(5, Duration.ofSeconds(1));
    assertThat(history().inBackoff(OBJECT)).isTrue();
    assertThat(backoff.contentions(OWNER))
        .containsExactly(new DriftBackoff.Contention(ObjectRef.of(OBJECT), List.of("other")));

    now = now.plus(RequeuePeriods.DEFAULT.contended());

    assertThat(history().inBackoff(OBJECT)).isFalse();
    history().reverted(OBJECT, List.of("other"));
    assertThat(history().inBackoff(OBJECT)).isTrue();
    assertThat(backoff.contentions(OWNER)).hasSize(1);
  }

  @Test
  void contentionEndsAfterAnIntervalWithoutDrift() {
    revert(5, Duration.ofSeconds(1));

    history().observed(OBJECT);
    assertThat(backoff.contentions(OWNER)).hasSize(1);

    now = now.plus(RequeuePeriods.DEFAULT.contended());
    history().observed(OBJECT);
    assertThat(backoff.contentions(OWNER)).isEmpty();
  }

  @Test
  void backoffDoesNotLastLongerWhenTheClockIsSetBack() {
    revert(5, Duration.ofSeconds(1));

    now = now.minus(Duration.ofHours(1));

    assertThat(history().inBackoff(OBJECT)).isFalse();
  }

  @Test
  void newGenerationIsAppliedAtOnce() {
    revert(5, Duration.ofSeconds(1));

    assertThat(backoff.history(OWNER, 2).inBackoff(OBJECT)).isFalse();
    assertThat(backoff.contentions(OWNER)).isEmpty();
  }

  @Test
  void objectsAndOwnersAreSeparate() {
    revert(5, Duration.ofSeconds(1));
    var other = new ConfigMapBuilder().withNewMetadata().withName("other").endMetadata().build();

    assertThat(history().inBackoff(other)).isFalse();
    assertThat(backoff.contentions(new Owner("v1", "Kind", "", "name", "another"))).isEmpty();
    backoff.forget(OWNER);
    assertThat(backoff.contentions(OWNER)).isEmpty();
  }

  @Test
  void onlyTheFirstReconciliationOfAGenerationIsNew() {
    assertThat(history().isNew()).isTrue();
    assertThat(history().isNew()).isFalse();
    assertThat(backoff.history(OWNER, 2).isNew()).isTrue();
  }

  private void revert(int times, Duration apart) {
    for (int i = 0; i < times; i++) {
      now = now.plus(apart);
      history().reverted(OBJECT, List.of("other"));
    }
  }

  private DriftBackoff.History history() {
    return backoff.history(OWNER, 1);
  }
}
