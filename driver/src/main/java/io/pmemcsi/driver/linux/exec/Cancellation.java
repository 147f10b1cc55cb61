package io.pmemcsi.driver.linux.exec;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Tells running commands that nobody waits for them any more.
 *
 * <p>Bound to the thread that serves a call. An interrupt would do for commands, but it also closes
 * file channels under a ledger write.
 */
public final class Cancellation {

  private static final ScopedValue<Cancellation> CURRENT = ScopedValue.newInstance();

  private final List<Runnable> listeners = new ArrayList<>();
  private boolean cancelled;

  /** The cancellation of the call that this thread serves, if it serves one. */
  public static Optional<Cancellation> current() {
    return CURRENT.isBound() ? Optional.of(CURRENT.get()) : Optional.empty();
  }

  /** Runs work whose commands are killed by {@link #cancel}. */
  public void serve(Runnable work) {
    ScopedValue.where(CURRENT, this).run(work);
  }

  /** Runs work that has to be done even though nobody waits for the call any more. */
  public static void shielded(Runnable work) {
    new Cancellation().serve(work);
  }

  /** Kills what is running now and refuses what would start later. */
  public void cancel() {
    List<Runnable> toRun;
    synchronized (this) {
      cancelled = true;
      toRun = List.copyOf(listeners);
      listeners.clear();
    }
    toRun.forEach(Runnable::run);
  }

  /** Whether it was cancelled already. */
  public synchronized boolean isCancelled() {
    return cancelled;
  }

  /** Registers what cancels a running command; runs it at once when it is too late. */
  void onCancel(Runnable listener) {
    synchronized (this) {
      if (!cancelled) {
        listeners.add(listener);
        return;
      }
    }
    listener.run();
  }

  synchronized void forget(Runnable listener) {
    listeners.remove(listener);
  }
}
