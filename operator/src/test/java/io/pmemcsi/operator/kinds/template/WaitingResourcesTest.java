package io.pmemcsi.operator.kinds.template;

import static org.assertj.core.api.Assertions.assertThat;

import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.Set;
import org.junit.jupiter.api.Test;

class WaitingResourcesTest {

  private static final ResourceID WAITING = new ResourceID("waiting", "ns");
  private static final ResourceID WINNER = new ResourceID("winner", "ns");
  private static final ResourceID NAMESAKE = new ResourceID("winner", "other");

  private final WaitingResources waiting = new WaitingResources();

  @Test
  void onlyThoseThatWaitForAResourceAreTriggeredByIt() {
    waiting.record(WAITING, Set.of(WINNER));

    assertThat(waiting.isWaiting(WAITING)).isTrue();
    assertThat(waiting.waitingFor(WINNER)).containsExactly(WAITING);
    assertThat(waiting.waitingFor(NAMESAKE)).isEmpty();
  }

  @Test
  void resourceWithoutConflictIsRemoved() {
    waiting.record(WAITING, Set.of(WINNER));
    waiting.record(WAITING, Set.of());

    assertThat(waiting.isWaiting(WAITING)).isFalse();
    assertThat(waiting.waitingFor(WINNER)).isEmpty();
  }
}
