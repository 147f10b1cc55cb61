package io.pmemcsi.testbed.awaiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AwaitilityDefaultsTest {

  @Test
  void awaitHasATimeoutOfTwoMinutesByDefault() {
    var left = new AtomicLong();

    await()
        .conditionEvaluationListener(looked -> left.set(looked.getRemainingTimeInMS()))
        .until(() -> true);

    assertThat(left).hasValueGreaterThan(Duration.ofMinutes(1).toMillis());
  }

  @Test
  void whoWaitsLongerLooksMoreRarely() {
    var intervals = new ArrayList<Duration>();

    await()
        .conditionEvaluationListener(looked -> intervals.add(looked.getPollInterval()))
        .until(() -> intervals.size() == 4);

    assertThat(intervals).hasSize(5).isSorted().doesNotHaveDuplicates();
  }
}
