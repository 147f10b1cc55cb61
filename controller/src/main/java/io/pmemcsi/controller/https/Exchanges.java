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
import org.jspecify.annotations.Nullable;

/**
 * Runs the requests of the servers and limits how many run at the same time and how much memory
 * they take. The port is open to every pod: when others wait, a request is ended whose client has
 * sent and read nothing for a fifth of a second, or is not done after half a second. The time that
 * a request itself waits for memory does not count. The JDK closes the connection of a thread that
 * is interrupted in a read or write.
 */
final class Exchanges implements Executor {

  /** A connection with TLS takes up to 100 KiB while a request is read; others wait for a place. */
  private static final int MAX_RUNNING = 128;

  private static final int KIB = 1024;

  /** Enough for the largest request. */
  private static final int MEMORY_KIB = 16 * KIB;

  /** What small requests take does not depend on the large ones: the webhook must be quick. */
  private static final int SMALL_MEMORY_KIB = 4 * KIB;

  private static final Duration IDLE = Duration.ofMillis(200);
  private static final Duration SLOW = Duration.ofMillis(500);
  private static final Duration PERIOD = Duration.ofMillis(50);
  private static final Set<Thread.State> WAITING =
      Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);

  private final Places places = new Places(MAX_RUNNING);
  private final Semaphore memory = new Semaphore(MEMORY_KIB, true);
  private final Semaphore smallMemory = new Semaphore(SMALL_MEMORY_KIB, true);
  private final Map<Thread, Running> running = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;

  /** A request; fields that others read are guarded by its monitor. */
  private static final class Running {

    /** Before it waited for its place. */
    private final long arrived;

    private long since;

    /** When its thread was last seen to do something. */
    private long active;

    /** Whether it waits for memory or is being handled: not for its client. */
    private boolean exempt;

    private @Nullable Runnable release;

    Running(long arrived, long now) {
      this.arrived = arrived;
      waitForClient(now);
    }

    synchronized void waitForClient(long now) {
      since = now;
      active = now;
      exempt = false;
    }

    synchronized void exempt() {
      exempt = true;
    }
  }

  /** There are too many requests for the memory. */
  static final class BusyException extends Exception {
    private static final long serialVersionUID = 1;
  }

  /**
   * Does not end slow requests by itself.
   *
   * @param nanoTime the clock
   */
  Exchanges(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Ends slow requests in the background. */
  static Exchanges start() {
    var exchanges = new Exchanges(System::nanoTime);
    Thread.ofVirtual().name("slow-requests").start(exchanges::watch);
    return exchanges;
  }

  @Override
  public void execute(Runnable exchange) {
    long arrived = nanoTime.getAsLong();
    Thread.ofVirtual()
        .name("request")
        .start(
            () -> {
              places.acquire();
              var request = new Running(arrived, nanoTime.getAsLong());
              running.put(Thread.currentThread(), request);
              try {
                exchange.run();
              } finally {
                running.remove(Thread.currentThread());
                if (request.release != null) {
                  request.release.run();
                }
                places.release();
              }
            });
  }

  /**
   * Waits for memory, which the current request has until its end. All that a request needs is
   * reserved at once: two that have a part could wait for each other. Small requests take what is
   * left beside others that wait.
   *
   * @param wait since the request arrived, the time for its place included
   */
  void reserve(long bytes, Duration wait) throws BusyException, InterruptedException {
    Semaphore pool = bytes <= RequestBody.MAX_SMALL ? smallMemory : memory;
    int kibibytes = (int) Math.ceilDiv(bytes, KIB);
    Running request = current();
    if (!pool.tryAcquire(kibibytes)) {
      request.exempt();
      try {
        long left = wait.toNanos() - (nanoTime.getAsLong() - request.arrived);
        if (!pool.tryAcquire(kibibytes, left, TimeUnit.NANOSECONDS)) {
          throw new BusyException();
        }
      } finally {
        request.waitForClient(nanoTime.getAsLong());
      }
    }
    request.release = () -> pool.release(kibibytes);
  }

  /** How many requests wait for a place. */
  int waitingForPlace() {
    return places.waiting();
  }

  /** Whether a request waits for memory. */
  boolean isMemoryShort() {
    return memory.hasQueuedThreads() || smallMemory.hasQueuedThreads();
  }

  /** From now on the current request waits for nothing of its client, and is not ended. */
  void beginHandling() throws InterruptedIOException {
    current().exempt();
    if (Thread.interrupted()) {
      throw new InterruptedIOException("the request came too slowly");
    }
  }

  /** The answer is going to be sent. */
  void endHandling() {
    current().waitForClient(nanoTime.getAsLong());
  }

  private Running current() {
    long now = nanoTime.getAsLong();
    return running.computeIfAbsent(Thread.currentThread(), _ -> new Running(now, now));
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
    boolean othersWait = waitingForPlace() > 0 || isMemoryShort();
    running.forEach((thread, request) -> observe(thread, request, othersWait));
  }

  private void observe(Thread thread, Running request, boolean othersWait) {
    long now = nanoTime.getAsLong();
    synchronized (request) {
      if (request.exempt || !WAITING.contains(thread.getState())) {
        request.active = now;
      } else if (othersWait
          && (now - request.active > IDLE.toNanos() || now - request.since > SLOW.toNanos())) {
        thread.interrupt();
      }
    }
  }
}
