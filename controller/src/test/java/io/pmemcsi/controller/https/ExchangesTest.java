package io.pmemcsi.controller.https;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ExchangesTest {

  private static final int ALL_MEMORY = 16 << 20;
  private static final int ALL_SMALL_MEMORY = 4 << 20;
  private static final int PLACES = 128;
  private static final int LARGE = RequestBody.MAX_LENGTH;
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final AtomicLong nanos = new AtomicLong();
  private final Exchanges exchanges = new Exchanges(nanos::get);
  private final CountDownLatch taken = new CountDownLatch(1);
  private final CountDownLatch handled = new CountDownLatch(1);

  @Test
  void aRequestThatWaitsForMemoryIsNotEnded() throws Exception {
    var large = run(this::takeAllMemory);
    taken.await();
    var next = run(() -> reserve(LARGE));
    await().until(exchanges::isMemoryShort);

    nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
    exchanges.endSlowRequests();
    handled.countDown();

    assertThat(large.get()).isEqualTo("handled");
    assertThat(next.get()).isEqualTo("reserved");
  }

  @Test
  void theTimeOfARequestBeginsAgainWhenItHasMemory() throws Exception {
    var large = run(this::takeAllMemory);
    taken.await();
    var thread = new AtomicReference<Thread>();
    var firstPart = new CountDownLatch(1);
    var firstRead = new CountDownLatch(1);
    var secondPart = new CountDownLatch(1);
    var slow =
        run(
            () -> {
              exchanges.reserve(ALL_MEMORY, LIMIT);
              thread.set(Thread.currentThread());
              firstPart.await();
              firstRead.countDown();
              secondPart.await();
              return "";
            });
    await().until(exchanges::isMemoryShort);
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
    handled.countDown();
    large.get();
    await().until(() -> isWaiting(thread.get()));
    var next = run(() -> reserve(LARGE));
    await().until(exchanges::isMemoryShort);

    exchanges.endSlowRequests();
    firstPart.countDown();
    await().until(() -> slow.isDone() || firstRead.getCount() == 0);
    assertThat(slow).as("its time begins then").isNotDone();
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
    await()
        .until(
            () -> {
              exchanges.endSlowRequests();
              return slow.isDone();
            });

    assertThatThrownBy(slow::get).hasCauseInstanceOf(InterruptedException.class);
    assertThat(next.get()).isEqualTo("reserved");
  }

  @Test
  void aRequestThatGetsNoMemoryIsBusy() {
    var result = run(() -> reserve(ALL_MEMORY + 1024, Duration.ofMillis(1)));

    assertThatThrownBy(result::get)
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(Exchanges.BusyException.class);
  }

  @Test
  void theTimeBeforeARequestHasAPlaceCountsAsWaiting() throws Exception {
    var silent = new CountDownLatch(1);
    hold(PLACES, silent);
    var result = run(() -> reserve(ALL_MEMORY + 1024, LIMIT));
    nanos.addAndGet(LIMIT.toNanos());

    silent.countDown();

    assertThatThrownBy(result::get).hasCauseInstanceOf(Exchanges.BusyException.class);
  }

  @Test
  void smallRequestsDoNotWaitForLargeOnes() throws Exception {
    var large = run(this::takeAllMemory);
    taken.await();
    var waiting = run(() -> reserve(LARGE));
    await().until(exchanges::isMemoryShort);

    assertThat(run(() -> reserve(RequestBody.MAX_SMALL)).get()).isEqualTo("reserved");
    assertThat(waiting).isNotDone();
    handled.countDown();

    assertThat(large.get()).isEqualTo("handled");
    assertThat(waiting.get()).isEqualTo("reserved");
  }

  @Test
  void theMemoryOfSmallRequestsIsLimited() throws Exception {
    var reserved = new CountDownLatch(ALL_SMALL_MEMORY / RequestBody.MAX_SMALL);
    for (long i = reserved.getCount(); i > 0; i--) {
      var _ =
          run(
              () -> {
                exchanges.reserve(RequestBody.MAX_SMALL, LIMIT);
                reserved.countDown();
                handled.await();
                return "";
              });
    }
    reserved.await();

    assertThatThrownBy(run(() -> reserve(1, Duration.ofMillis(1)))::get)
        .hasCauseInstanceOf(Exchanges.BusyException.class);
    handled.countDown();
  }

  @Test
  void theNewestOfTheRequestsThatWaitGetsThePlace() throws Exception {
    var silent = new CountDownLatch(1);
    var first = new CountDownLatch(1);
    hold(PLACES - 1, silent);
    hold(1, first);
    var older = run(() -> "");
    await().until(() -> exchanges.waitingForPlace() == 1);
    var newer = run(this::takeAllMemory);
    await().until(() -> exchanges.waitingForPlace() == 2);

    first.countDown();
    taken.await();

    assertThat(older).isNotDone();
    handled.countDown();
    newer.get();
    older.get();
    silent.countDown();
  }

  @Test
  void aClientThatSendsNothingIsEndedWhenOthersWait() throws Exception {
    List<CompletableFuture<String>> silent = hold(PLACES, new CountDownLatch(1));
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
    exchanges.endSlowRequests();
    assertThat(silent).as("nobody waits").noneMatch(CompletableFuture::isDone);
    var next = run(() -> "");
    await().until(() -> exchanges.waitingForPlace() == 1);

    exchanges.endSlowRequests();

    next.get();
    assertThat(silent)
        .allSatisfy(
            one -> assertThatThrownBy(one::get).hasCauseInstanceOf(InterruptedException.class));
  }

  /** Each takes more than half of the memory, with what handling needs. */
  @Test
  void largeBodiesAtTheSameTimeAreAllRead() throws Exception {
    var ends = new CountDownLatch(3);
    List<CompletableFuture<Integer>> requests =
        IntStream.range(0, 3)
            .mapToObj(
                _ ->
                    run(
                        () -> {
                          byte[] body = RequestBody.read(new Slow(ends), LARGE, exchanges, LIMIT);
                          exchanges.beginHandling();
                          return body.length;
                        }))
            .toList();

    for (var request : requests) {
      assertThat(request.get()).isEqualTo(LARGE);
    }
  }

  @Test
  void aClientThatSendsNothingTakesNoMemory() throws Exception {
    var silent = new CountDownLatch(1);
    var reading = new CountDownLatch(1);
    var slow =
        run(
            () ->
                RequestBody.read(
                    new FilterInputStream(new ByteArrayInputStream(new byte[LARGE])) {
                      @Override
                      public int read(byte[] buffer, int from, int length) throws IOException {
                        reading.countDown();
                        join(silent, Duration.ofMinutes(2));
                        return super.read(buffer, from, length);
                      }
                    },
                    LARGE,
                    exchanges,
                    LIMIT));
    reading.await();

    assertThat(run(() -> reserve(ALL_MEMORY)).get()).isEqualTo("reserved");
    silent.countDown();
    assertThat(slow.get()).hasSize(LARGE);
  }

  /** A body whose last byte comes when the others are as far, if they get there. */
  private static final class Slow extends FilterInputStream {
    private final CountDownLatch ends;
    private int left = LARGE;

    Slow(CountDownLatch ends) {
      super(new ByteArrayInputStream(new byte[LARGE]));
      this.ends = ends;
    }

    @Override
    public int read(byte[] buffer, int from, int length) throws IOException {
      int read = super.read(buffer, from, length);
      left -= read;
      if (left == 0) {
        ends.countDown();
        join(ends, Duration.ofMillis(200));
      }
      return read;
    }
  }

  private static void join(CountDownLatch latch, Duration atMost) throws IOException {
    try {
      boolean _ = latch.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  /** Takes places for clients that send nothing until the end. */
  private List<CompletableFuture<String>> hold(int places, CountDownLatch end) {
    var threads = new ConcurrentLinkedQueue<Thread>();
    var requests =
        IntStream.range(0, places)
            .mapToObj(
                _ ->
                    run(
                        () -> {
                          threads.add(Thread.currentThread());
                          end.await();
                          return "";
                        }))
            .toList();
    await()
        .until(
            () -> threads.size() == places && threads.stream().allMatch(ExchangesTest::isWaiting));
    return requests;
  }

  private static boolean isWaiting(@Nullable Thread thread) {
    return thread != null && thread.getState() == Thread.State.WAITING;
  }

  private String takeAllMemory() throws Exception {
    exchanges.reserve(ALL_MEMORY, LIMIT);
    exchanges.beginHandling();
    taken.countDown();
    handled.await();
    return "handled";
  }

  private String reserve(long bytes) throws Exception {
    return reserve(bytes, LIMIT);
  }

  private String reserve(long bytes, Duration wait) throws Exception {
    exchanges.reserve(bytes, wait);
    return "reserved";
  }

  private <T> CompletableFuture<T> run(Callable<T> request) {
    var result = new CompletableFuture<T>();
    exchanges.execute(() -> complete(result, request));
    return result;
  }

  private static <T> void complete(CompletableFuture<T> result, Callable<T> request) {
    try {
      result.complete(request.call());
    } catch (Exception e) {
      result.completeExceptionally(e);
    }
  }
}
