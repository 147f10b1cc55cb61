package io.pmemcsi.controller;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class ReadinessTest {

  private final Readiness readiness = new Readiness();

  @Test
  void theFirstMissingThingIsNamed() {
    var step = new Readiness.Step("starting");
    readiness.add(step);
    readiness.add(() -> Optional.of("no capacity"));

    assertThat(readiness.problem()).contains("starting");
    step.done();
    assertThat(readiness.problem()).contains("no capacity");
  }

  @Test
  void aStepThatIsDoneIsNoProblem() {
    var step = new Readiness.Step("starting");
    readiness.add(step);
    step.done();

    assertThat(readiness.problem()).isEmpty();
  }
}
