package io.pmemcsi.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class IdleCollectorTest {

  private final Queue<Runnable> later = new ArrayDeque<>();
  private long heap = 10;
  private int collections;

  private final IdleCollector collector = new IdleCollector(() -> heap, this::collect, later::add);

  private void collect() {
    collections++;
    heap = 10;
  }

  @Test
  void aHeapThatHasGrownIsCollectedOnceWhenCallsHaveEnded() {
    heap = 30;
    collector.called();
    collector.called();
    assertThat(later).hasSize(1);

    later.remove().run();
    assertThat(collections).as("while calls come").isZero();

    later.remove().run();
    assertThat(collections).isEqualTo(1);
    assertThat(later).isEmpty();
  }

  @Test
  void aHeapThatHasNotGrownIsLeftAlone() {
    for (int probe = 0; probe < 3; probe++) {
      collector.called();
      later.remove().run();
    }

    assertThat(collections).isZero();
  }

  @Test
  void itIsCollectedAgainWhenItHasGrownAgain() {
    for (int burst = 0; burst < 2; burst++) {
      heap = 30;
      collector.called();
      later.remove().run();
    }

    assertThat(collections).isEqualTo(2);
  }
}
