package io.pmemcsi.operator.runtime;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a replica does once when it begins to lead, as often as it takes until it has worked. */
final class OnElectedTask implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(OnElectedTask.class);
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(2);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(2);

  private final String title;
  private final Runnable duty;
  private @Nullable Thread thread;
  private boolean closed;

  /**
   * Something to do.
   *
   * @param title for the log
   */
  OnElectedTask(String title, Runnable duty) {
    this.title = title;
    this.duty = duty;
  }

  synchronized void begin() {
    if (thread == null && !closed) {
      thread = Thread.ofVirtual().name("leader-duty").start(this::doUntilDone);
    }
  }

  private void doUntilDone() {
    Duration pause = FIRST_PAUSE;
    while (!isClosed()) {
      try {
        duty.run();
        return;
      } catch (RuntimeException e) {
        if (!isClosed()) {
          LOG.atWarn().addKeyValue("duty", title).setCause(e).log("Failed, and is tried again.");
          rest(pause);
          Duration longer = pause.multipliedBy(2);
          pause = longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
        }
      }
    }
  }

  private static void rest(Duration pause) {
    try {
      Thread.sleep(pause);
    } catch (InterruptedException e) {
      // the end of the program: nobody waits for it
      Thread.currentThread().interrupt();
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (thread != null) {
      thread.interrupt();
    }
  }
}
