package io.pmemcsi.operator.pmemdriver;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.api.StandardCondition;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PmemConditionTest {

  /** {@code pmem-csi status} depends on it. */
  @ParameterizedTest
  @EnumSource
  void conditionsThatExistWhileSomethingIsWrongAreProblemsWhenTrue(PmemCondition condition) {
    boolean negative =
        switch (condition.lifetime()) {
          case PERMANENT, WHILE_NAMED -> false;
          case WHILE_OBSERVED, WHILE_TRUE -> true;
        };

    assertThat(StandardCondition.isProblem(condition.type(), StandardCondition.TRUE))
        .isEqualTo(negative);
    assertThat(StandardCondition.isProblem(condition.type(), StandardCondition.FALSE))
        .isEqualTo(!negative);
  }
}
