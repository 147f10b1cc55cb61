package io.pmemcsi.app.demo;

import io.pmemcsi.base.error.FatalException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets Ctrl-C end the demo between two steps, so that everything is undone. Threads are not
 * interrupted: a call that is cut off may have had its effect.
 */
final class Interruption implements AutoCloseable {

  private static final long PATIENCE_SECONDS = 60;

  private final CountDownLatch over = new CountDownLatch(1);
  private final Thread hook = new Thread(this::stop, "stop-demo");
  private volatile boolean asked;

  private Interruption() {}

  static Interruption watch() {
    Interruption interruption = new Interruption();
    Runtime.getRuntime().addShutdownHook(interruption.hook);
    return interruption;
  }

  /** Throws where the demo is to end; steps that undo something do not ask. */
  void check() {
    if (asked) {
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

  /** The JVM waits for this, and so for the undoing. */
  private void stop() {
    asked = true;
    try {
      boolean _ = over.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
