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

/** Holds the objects and as much of their history as watchers and stale readers may ask for. */
public final class Store {
  private static final int HISTORY = 20_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final NavigableMap<Key, ObjectNode> objects = new TreeMap<>();
  private final List<Change> history = new ArrayList<>();
  private long revision = 1;
  private long compacted = 1;
  private long oldest = 1;
  private long wakeUps;

  /** What happened after a revision, and how far the answer reaches. */
  public record News(List<Change> changes, long revision, boolean expired) {}

  /** A view together with its revision. */
  public record At(Objects objects, long revision) {}

  /** Runs a transaction alone; if it throws, nothing has happened. */
  public <T> T transact(Function<Transaction, T> work) {
    lock.lock();
    try {
      Transaction transaction = new Transaction(objects, revision);
      T result = work.apply(transaction);
      List<Change> changes = transaction.changes();
      if (!changes.isEmpty()) {
        commit(changes);
      }
      return result;
    } finally {
      lock.unlock();
    }
  }

  private void commit(List<Change> changes) {
    for (Change change : changes) {
      switch (change.kind()) {
        case ADDED, MODIFIED -> objects.put(change.key(), change.object());
        case DELETED -> objects.remove(change.key());
      }
    }
    history.addAll(changes);
    revision = changes.getLast().revision();
    if (history.size() > 2 * HISTORY) {
      forget(history.size() - HISTORY);
    }
    changed.signalAll();
  }

  /**
   * Forgets the history so far, so that whoever comes from the past has to start anew, from the
   * last revision too: a watcher that has seen it may have missed what came before. Those who watch
   * now go on.
   */
  public void compact() {
    lock.lock();
    try {
      forget(history.size());
      revision++;
      oldest = revision;
    } finally {
      lock.unlock();
    }
  }

  private void forget(int changes) {
    if (changes > 0) {
      compacted = history.get(changes - 1).revision();
      oldest = Math.max(oldest, compacted);
      history.subList(0, changes).clear();
    }
  }

  public long revision() {
    lock.lock();
    try {
      return revision;
    } finally {
      lock.unlock();
    }
  }

  /** Everything as it is now. */
  public At now() {
    lock.lock();
    try {
      return new At(new Snapshot(new TreeMap<>(objects)), revision);
    } finally {
      lock.unlock();
    }
  }

  /** Everything as it was, at the earliest moment that is still known. */
  public At at(long wanted) {
    lock.lock();
    try {
      NavigableMap<Key, ObjectNode> past = new TreeMap<>(objects);
      long reached = Math.max(wanted, compacted);
      for (int i = history.size() - 1; i >= 0 && history.get(i).revision() > reached; i--) {
        Change change = history.get(i);
        change
            .before()
            .ifPresentOrElse(
                before -> past.put(change.key(), before), () -> past.remove(change.key()));
      }
      return new At(new Snapshot(past), Math.min(reached, revision));
    } finally {
      lock.unlock();
    }
  }

  /** Whether a list or watch may start from a revision. */
  public boolean remembers(long wanted) {
    lock.lock();
    try {
      return wanted >= oldest;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for news after a revision, at most for a time, or until {@link #wakeUp}. */
  public News await(long after, Duration atMost) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = atMost.toNanos();
      long woken = wakeUps;
      while (revision <= after && woken == wakeUps && left > 0) {
        left = changed.awaitNanos(left);
      }
      return news(after);
    } finally {
      lock.unlock();
    }
  }

  /** Makes everybody who waits for news look up. */
  public void wakeUp() {
    lock.lock();
    try {
      wakeUps++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private News news(long after) {
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
