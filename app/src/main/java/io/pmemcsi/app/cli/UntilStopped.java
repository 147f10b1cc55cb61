package io.pmemcsi.app.cli;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Waits for SIGTERM or SIGINT, lets the program close in peace, and ends with exit code 0: for
 * Kubernetes an asked-for end is no failure.
 */
final class UntilStopped {

  /** Longer than a healthy start takes, shorter than the termination grace period of a pod. */
  private static final Duration START = Duration.ofSeconds(10);

  private final CountDownLatch started = new CountDownLatch(1);
  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);

  private UntilStopped() {}

  /**
   * Returns only where the waiting itself is interrupted.
   *
   * @param start starts to serve; a signal during the start stops it in order
   * @param grace how long to continue to serve, so that sidecars can end first
   * @param onStopped runs when all is closed; later output may be cut off by the exit
   */
  static void run(Callable<? extends AutoCloseable> start, Duration grace, Runnable onStopped)
      throws Exception {
    UntilStopped waiting = new UntilStopped();
    Runtime.getRuntime().addShutdownHook(new Thread(waiting::stop, "stop"));
    try {
      AutoCloseable program = start.call();
      try (program) {
        waiting.started.countDown();
        waiting.asked.await();
        Thread.sleep(grace);
      }
      onStopped.run();
    } finally {
      waiting.started.countDown();
      waiting.closed.countDown();
    }
  }

  /** The JVM ends when its hooks have ended, with a code that says signal: so we end it here. */
  private void stop() {
    boolean wasRunning = closed.getCount() > 0;
    asked.countDown();
    try {
      if (!started.await(START.toSeconds(), TimeUnit.SECONDS)) {
        return;
      }
      closed.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (wasRunning) {
      Runtime.getRuntime().halt(0);
    }
  }
}
