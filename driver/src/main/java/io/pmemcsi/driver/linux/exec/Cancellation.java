package io.pmemcsi.driver.linux.exec;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Kills the commands of a CSI call that its caller has cancelled.
 *
 * <p>Bound to the thread that serves the call. An interrupt would do for commands, but it also
 * closes file channels under a ledger write.
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

  /** The same for work with a result. */
  public <T> T serve(Supplier<T> work) {
    return ScopedValue.where(CURRENT, this).call(work::get);
  }

  /** Runs work that has to be finished even if the call is cancelled. */
  public static void uncancellable(Runnable work) {
    new Cancellation().serve(work);
  }

  /** The same for work with a result. */
  public static <T> T uncancellable(Supplier<T> work) {
    return new Cancellation().serve(work);
  }

  /** Kills the commands that run and keeps others from starting. */
  public void cancel() {
    List<Runnable> toRun;
    synchronized (this) {
      cancelled = true;
      toRun = List.copyOf(listeners);
      listeners.clear();
    }
    toRun.forEach(Runnable::run);
  }

  /** Whether the caller has cancelled the call. */
  public synchronized boolean isCancelled() {
    return cancelled;
  }

  /** Registers what kills a running command; runs it at once if the call is cancelled already. */
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
