package io.pmemcsi.operator.kinds.template;

import static org.assertj.core.api.Assertions.assertThat;

import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.Set;
import org.junit.jupiter.api.Test;

class WaitingResourcesTest {

  private static final ResourceID LOSER = new ResourceID("loser", "ns");
  private static final ResourceID WINNER = new ResourceID("winner", "ns");
  private static final ResourceID NAMESAKE = new ResourceID("winner", "other");

  private final WaitingResources waiting = new WaitingResources();

  @Test
  void onlyThoseThatWaitForAResourceAreTriggeredByIt() {
    waiting.record(LOSER, Set.of(WINNER));

    assertThat(waiting.isWaiting(LOSER)).isTrue();
    assertThat(waiting.waitingFor(WINNER)).containsExactly(LOSER);
    assertThat(waiting.waitingFor(NAMESAKE)).isEmpty();
  }

  @Test
  void resourceWithoutConflictIsForgotten() {
    waiting.record(LOSER, Set.of(WINNER));
    waiting.record(LOSER, Set.of());

    assertThat(waiting.isWaiting(LOSER)).isFalse();
    assertThat(waiting.waitingFor(WINNER)).isEmpty();
  }
}
