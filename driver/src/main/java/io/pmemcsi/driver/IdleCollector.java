package io.pmemcsi.driver;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Returns memory to the node when calls have ended. The JVM shrinks its heap only when it collects
 * all of it, which it has no reason to do while nothing is allocated.
 */
final class IdleCollector {

  private static final int QUIET_SECONDS = 5;

  private final LongSupplier heapBytes;
  private final Runnable collect;
  private final Executor later;
  private final AtomicLong calls = new AtomicLong();
  private final AtomicBoolean scheduled = new AtomicBoolean();
  private volatile long heapAfterCollection;

  /**
   * @param heapBytes what the heap has got from the system
   * @param later runs a task when calls should have ended
   */
  IdleCollector(LongSupplier heapBytes, Runnable collect, Executor later) {
    this.heapBytes = heapBytes;
    this.collect = collect;
    this.later = later;
    this.heapAfterCollection = heapBytes.getAsLong();
  }

  /** That of this process. */
  static IdleCollector ofJvm() {
    return new IdleCollector(
        Runtime.getRuntime()::totalMemory,
        System::gc,
        CompletableFuture.delayedExecutor(QUIET_SECONDS, TimeUnit.SECONDS));
  }

  /** To be called at the end of each call. */
  void called() {
    calls.incrementAndGet();
    if (scheduled.compareAndSet(false, true)) {
      schedule();
    }
  }

  private void schedule() {
    long soFar = calls.get();
    later.execute(() -> check(soFar));
  }

  private void check(long earlier) {
    if (calls.get() != earlier) {
      schedule();
      return;
    }
    scheduled.set(false);
    // probes and statistics come all day: without a larger heap there is nothing to return
    if (heapBytes.getAsLong() > heapAfterCollection) {
      collect.run();
      heapAfterCollection = heapBytes.getAsLong();
    }
  }
}
