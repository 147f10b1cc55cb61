package io.pmemcsi.testbed.patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PatienceTest {

  @Test
  void whoSaysNothingIsPatient() {
    var left = new AtomicLong();

    await()
        .conditionEvaluationListener(looked -> left.set(looked.getRemainingTimeInMS()))
        .until(() -> true);

    assertThat(left).hasValueGreaterThan(Duration.ofMinutes(1).toMillis());
  }
}
