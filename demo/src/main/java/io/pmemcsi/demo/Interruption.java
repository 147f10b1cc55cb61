package io.pmemcsi.demo;

import io.pmemcsi.base.error.FatalException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Makes Ctrl-C end the demo between two steps, so that everything is undone. Threads are not
 * interrupted: an interrupted call may have taken effect.
 */
final class Interruption implements AutoCloseable {

  private static final long TIMEOUT_SECONDS = 60;

  private final CountDownLatch over = new CountDownLatch(1);
  private final Thread hook = new Thread(this::stop, "stop-demo");
  private volatile boolean requested;

  private Interruption() {}

  static Interruption watch() {
    Interruption interruption = new Interruption();
    Runtime.getRuntime().addShutdownHook(interruption.hook);
    return interruption;
  }

  /** Throws if the demo must end; steps that undo something do not call this. */
  void check() {
    if (requested) {
      throw new FatalException("the demo was stopped before its end");
    }
  }

  @Override
  public void close() {
    over.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // the hook is what ended the demo
    }
  }

  /** The JVM waits for this hook until everything is undone. */
  private void stop() {
    requested = true;
    try {
      boolean _ = over.await(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
