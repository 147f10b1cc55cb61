package io.pmemcsi.controller.https;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Runs the requests of the servers and limits how many run at the same time and how much memory
 * they take. The port is open to every pod: when others wait, a request whose client has not sent
 * all of it, or does not take its answer, within half a second is ended. The time that a request
 * itself waits for memory does not count. The JDK closes the connection of a thread that is
 * interrupted in a read or write.
 */
final class Exchanges implements Executor {

  /** A connection with TLS takes up to 100 KiB while a request is read; others wait for a place. */
  private static final int MAX_RUNNING = 128;

  private static final int KIB = 1024;
  private static final int MEMORY_KIB = 20 * KIB;
  private static final Duration MEMORY_WAIT = Duration.ofSeconds(3);
  private static final Duration SLOW = Duration.ofMillis(500);
  private static final Duration PERIOD = Duration.ofMillis(100);
  private static final Set<Thread.State> WAITING =
      Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);

  private final Semaphore places = new Semaphore(MAX_RUNNING, true);
  private final Semaphore memory = new Semaphore(MEMORY_KIB, true);
  private final Map<Thread, Running> running = new ConcurrentHashMap<>();
  private final Duration memoryWait;
  private final LongSupplier nanoTime;

  /** A request; fields that others read are guarded by its monitor. */
  private static final class Running {
    private long since;

    /** Whether it waits for memory or is being handled: not for its client. */
    private boolean exempt;

    private int kibibytes;

    Running(long since) {
      this.since = since;
    }
  }

  /** There are too many requests for the memory. */
  static final class BusyException extends Exception {
    private static final long serialVersionUID = 1;
  }

  /**
   * Does not end slow requests by itself.
   *
   * @param memoryWait how long a request waits for memory
   * @param nanoTime the clock
   */
  Exchanges(Duration memoryWait, LongSupplier nanoTime) {
    this.memoryWait = memoryWait;
    this.nanoTime = nanoTime;
  }

  /** Ends slow requests in the background. */
  static Exchanges start() {
    var exchanges = new Exchanges(MEMORY_WAIT, System::nanoTime);
    Thread.ofVirtual().name("slow-requests").start(exchanges::watch);
    return exchanges;
  }

  @Override
  public void execute(Runnable exchange) {
    Thread.ofVirtual()
        .name("request")
        .start(
            () -> {
              places.acquireUninterruptibly();
              var request = new Running(nanoTime.getAsLong());
              running.put(Thread.currentThread(), request);
              try {
                exchange.run();
              } finally {
                running.remove(Thread.currentThread());
                memory.release(request.kibibytes);
                places.release();
              }
            });
  }

  /**
   * Waits for memory, which the current request has until its end. All that a request needs is
   * reserved at once: two that have a part could wait for each other. Small requests take what is
   * left beside large ones that wait.
   */
  void reserve(long bytes) throws BusyException, InterruptedException {
    int kibibytes = (int) Math.ceilDiv(bytes, KIB);
    if (!memory.tryAcquire(kibibytes)) {
      awaitMemory(kibibytes);
    }
    current().kibibytes += kibibytes;
  }

  private void awaitMemory(int kibibytes) throws BusyException, InterruptedException {
    Running request = current();
    exempt(request, true);
    try {
      if (!memory.tryAcquire(kibibytes, memoryWait.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new BusyException();
      }
    } finally {
      synchronized (request) {
        request.exempt = false;
        request.since = nanoTime.getAsLong();
      }
    }
  }

  /** Whether a request waits for memory. */
  boolean isMemoryShort() {
    return memory.hasQueuedThreads();
  }

  /** From now on the current request waits for nothing of its client, and is not ended. */
  void beginHandling() throws InterruptedIOException {
    exempt(current(), true);
    if (Thread.interrupted()) {
      throw new InterruptedIOException("the request came too slowly");
    }
  }

  /** The answer is going to be sent. */
  void endHandling() {
    exempt(current(), false);
  }

  private static void exempt(Running request, boolean exempt) {
    synchronized (request) {
      request.exempt = exempt;
    }
  }

  private Running current() {
    return running.computeIfAbsent(Thread.currentThread(), _ -> new Running(nanoTime.getAsLong()));
  }

  private void watch() {
    try {
      while (true) {
        Thread.sleep(PERIOD);
        endSlowRequests();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the requests whose clients are slow, if others wait. */
  void endSlowRequests() {
    if (places.hasQueuedThreads() || isMemoryShort()) {
      running.forEach(this::endIfSlow);
    }
  }

  private void endIfSlow(Thread thread, Running request) {
    synchronized (request) {
      if (!request.exempt
          && nanoTime.getAsLong() - request.since > SLOW.toNanos()
          && WAITING.contains(thread.getState())) {
        thread.interrupt();
      }
    }
  }
}
