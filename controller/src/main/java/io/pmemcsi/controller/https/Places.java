package io.pmemcsi.controller.https;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Semaphore;

/**
 * A limited number of places for requests. Of those that wait, the newest gets the next place: a
 * client that opens many connections and sends nothing must not delay all who come after it.
 */
final class Places {

  private final Deque<Semaphore> waiting = new ArrayDeque<>();
  private int free;

  Places(int count) {
    this.free = count;
  }

  void acquire() {
    var turn = new Semaphore(0);
    synchronized (this) {
      if (free > 0) {
        free--;
        return;
      }
      waiting.push(turn);
    }
    turn.acquireUninterruptibly();
  }

  synchronized void release() {
    if (waiting.isEmpty()) {
      free++;
    } else {
      waiting.pop().release();
    }
  }

  /** How many requests wait. */
  synchronized int waiting() {
    return waiting.size();
  }
}
