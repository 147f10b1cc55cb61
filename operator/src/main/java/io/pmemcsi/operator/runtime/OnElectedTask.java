package io.pmemcsi.operator.runtime;

import io.pmemcsi.base.error.Reason;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a replica does once when it becomes the leader, with retries until it succeeds. */
final class OnElectedTask implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(OnElectedTask.class);
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(2);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(2);

  private final String title;
  private final Runnable task;
  private @Nullable Thread thread;
  private boolean closed;

  /**
   * A task.
   *
   * @param title for the log
   */
  OnElectedTask(String title, Runnable task) {
    this.title = title;
    this.task = task;
  }

  synchronized void begin() {
    if (thread == null && !closed) {
      thread = Thread.ofVirtual().name("on-elected").start(this::doUntilDone);
    }
  }

  private void doUntilDone() {
    Duration pause = FIRST_PAUSE;
    while (!isClosed()) {
      try {
        task.run();
        return;
      } catch (RuntimeException e) {
        if (!isClosed()) {
          LOG.atWarn()
              .addKeyValue("task", title)
              .addKeyValue("cause", Reason.of(e))
              .log("Failed, and is retried.");
          sleep(pause);
          Duration longer = pause.multipliedBy(2);
          pause = longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
        }
      }
    }
  }

  private static void sleep(Duration pause) {
    try {
      Thread.sleep(pause);
    } catch (InterruptedException e) {
      // the program ends, and does not wait for this
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
