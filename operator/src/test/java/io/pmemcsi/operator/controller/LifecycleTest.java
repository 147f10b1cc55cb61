package io.pmemcsi.operator.controller;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LifecycleTest {

  private static final Optional<Hold> HOLD =
      Optional.of(new Hold("volumes", Duration.ofSeconds(1)));

  @Test
  void existingResourceIsDeployedUnlessItIsUnmanaged() {
    assertThat(Lifecycle.decide(false, true, true, Optional.empty()))
        .isEqualTo(new Lifecycle.Deploy(Optional.empty()));
    assertThat(Lifecycle.decide(false, true, false, Optional.empty()))
        .isEqualTo(new Lifecycle.LeaveAlone());
  }

  @Test
  void deletedResourceStaysDeployedWhileVolumesNeedIt() {
    assertThat(Lifecycle.decide(true, true, true, HOLD)).isEqualTo(new Lifecycle.Deploy(HOLD));
    assertThat(Lifecycle.decide(true, true, true, Optional.empty()))
        .isEqualTo(new Lifecycle.Remove());
  }

  @Test
  void objectsOfADeletedUnmanagedResourceOutliveIt() {
    assertThat(Lifecycle.decide(true, true, false, Optional.empty()))
        .isEqualTo(new Lifecycle.Release());
  }

  @Test
  void resourceWithoutFinalizerIsFinished() {
    assertThat(Lifecycle.decide(true, false, true, HOLD)).isEqualTo(new Lifecycle.Finished());
    assertThat(Lifecycle.decide(true, false, false, Optional.empty()))
        .isEqualTo(new Lifecycle.Finished());
  }
}
