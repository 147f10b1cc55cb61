package io.pmemcsi.app.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * Waits for SIGTERM or SIGINT, lets the program close in peace, and ends with exit code 0: for
 * Kubernetes an asked-for end is no failure.
 */
final class UntilStopped {

  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);

  private UntilStopped() {}

  /**
   * Returns only where the waiting itself is interrupted.
   *
   * @param grace how long to go on serving, so that sidecars can end first
   */
  static void run(AutoCloseable program, Duration grace) throws Exception {
    UntilStopped waiting = new UntilStopped();
    Runtime.getRuntime().addShutdownHook(new Thread(waiting::stop, "stop"));
    try (program) {
      waiting.asked.await();
      Thread.sleep(grace);
    } finally {
      waiting.closed.countDown();
    }
  }

  /** The JVM ends when its hooks have ended, with a code that says signal: so we end it here. */
  private void stop() {
    boolean wasRunning = closed.getCount() > 0;
    asked.countDown();
    try {
      closed.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (wasRunning) {
      Runtime.getRuntime().halt(0);
    }
  }
}
