package io.pmemcsi.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ConcurrentlyTest {

  /** Each waits for the others: one after another they would never end. */
  @Test
  void itemsAreProcessedAtOnceAndResultsKeepTheirOrder() {
    var together = new CountDownLatch(8);

    List<Integer> results =
        Concurrently.map(
            IntStream.range(0, 8).boxed().toList(),
            i -> {
              together.countDown();
              await(together);
              return i * i;
            });

    assertThat(results).containsExactly(0, 1, 4, 9, 16, 25, 36, 49);
  }

  @Test
  void atMostEightItemsAreInFlight() {
    var inFlight = new AtomicInteger();
    var most = new AtomicInteger();

    Concurrently.map(
        IntStream.range(0, 200).boxed().toList(),
        i -> {
          most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
          return inFlight.decrementAndGet();
        });

    assertThat(most.get()).isBetween(1, 8);
  }

  @Test
  void allItemsAreProcessedAndTheFirstFailureInOrderIsThrown() {
    var processed = new AtomicInteger();
    var lateFailed = new CountDownLatch(1);

    assertThatThrownBy(
            () ->
                Concurrently.map(
                    List.of("a", "early", "late"),
                    name -> {
                      processed.incrementAndGet();
                      if (name.equals("early")) {
                        await(lateFailed);
                        throw new IllegalArgumentException(name);
                      }
                      if (name.equals("late")) {
                        lateFailed.countDown();
                        throw new IllegalStateException(name);
                      }
                      return name;
                    }))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("early")
        .satisfies(
            e ->
                assertThat(e.getSuppressed())
                    .singleElement()
                    .extracting("message")
                    .isEqualTo("late"));
    assertThat(processed).hasValue(3);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
