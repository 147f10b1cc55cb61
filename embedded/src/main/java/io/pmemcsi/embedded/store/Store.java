package io.pmemcsi.embedded.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/** The objects and the recent history that watches and stale reads need. */
public final class Store {
  private static final int HISTORY = 20_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final List<Change> history = new ArrayList<>();
  private Objects objects = new Objects(new TreeMap<>());
  private long revision = 1;
  private long compacted = 1;
  private long oldest = 1;
  private long interrupts;

  /** The changes after a revision, and the revision that they lead to. */
  public record News(List<Change> changes, long revision, boolean expired) {}

  /** All objects at a revision. */
  public record At(Objects objects, long revision) {}

  /**
   * Runs a transaction exclusively. If it throws, or for a dry run, nothing is committed.
   *
   * @param dryRun whether the changes are dropped
   */
  public <T> T transact(boolean dryRun, Function<Transaction, T> work) {
    lock.lock();
    try {
      Transaction transaction = new Transaction(objects, revision);
      T result = work.apply(transaction);
      if (!dryRun && !transaction.changes().isEmpty()) {
        commit(transaction);
      }
      return result;
    } finally {
      lock.unlock();
    }
  }

  private void commit(Transaction transaction) {
    objects = transaction.objects();
    history.addAll(transaction.changes());
    revision = transaction.changes().getLast().revision();
    if (history.size() > 2 * HISTORY) {
      drop(history.size() - HISTORY);
    }
    changed.signalAll();
  }

  /**
   * Drops the history: a watch from any earlier revision has expired, including the latest one,
   * because a watch that reached it may have lost events before. Open watches continue.
   */
  public void compact() {
    lock.lock();
    try {
      drop(history.size());
      revision++;
      oldest = revision;
    } finally {
      lock.unlock();
    }
  }

  private void drop(int changes) {
    if (changes > 0) {
      compacted = history.get(changes - 1).revision();
      oldest = Math.max(oldest, compacted);
      history.subList(0, changes).clear();
    }
  }

  /** The current state. */
  public At now() {
    lock.lock();
    try {
      return new At(objects, revision);
    } finally {
      lock.unlock();
    }
  }

  /** The state at an earlier revision, or at the earliest one that the history reaches. */
  public At at(long requested) {
    lock.lock();
    try {
      NavigableMap<Key, ObjectNode> past = new TreeMap<>(objects.all());
      long reached = Math.max(requested, compacted);
      for (int i = history.size() - 1; i >= 0 && history.get(i).revision() > reached; i--) {
        Change change = history.get(i);
        change
            .before()
            .ifPresentOrElse(
                before -> past.put(change.key(), before), () -> past.remove(change.key()));
      }
      return new At(new Objects(past), Math.min(reached, revision));
    } finally {
      lock.unlock();
    }
  }

  /** Whether a watch can start from a revision. */
  public boolean reaches(long from) {
    lock.lock();
    try {
      return from >= oldest;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for changes after a revision, up to the timeout or until {@link #interruptAll}. */
  public News await(long after, Duration timeout) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = timeout.toNanos();
      long before = interrupts;
      while (revision <= after && before == interrupts && left > 0) {
        left = changed.awaitNanos(left);
      }
      return changesAfter(after);
    } finally {
      lock.unlock();
    }
  }

  /** Makes every {@link #await} return. */
  public void interruptAll() {
    lock.lock();
    try {
      interrupts++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private News changesAfter(long after) {
    if (after < compacted) {
      return new News(List.of(), revision, true);
    }
    int first = history.size();
    while (first > 0 && history.get(first - 1).revision() > after) {
      first--;
    }
    return new News(List.copyOf(history.subList(first, history.size())), revision, false);
  }
}
