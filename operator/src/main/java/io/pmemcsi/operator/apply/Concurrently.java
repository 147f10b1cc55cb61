package io.pmemcsi.operator.apply;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/** Requests to the API server that do not depend on each other, a bounded number at a time. */
final class Concurrently {

  /** Enough to hide the latency, and few enough for a server that many clients share. */
  private static final int LIMIT = 8;

  private Concurrently() {}

  /**
   * Applies a function to all items, and waits for all of them.
   *
   * @return the results, in the order of the items
   * @throws RuntimeException that of the first item that failed, with the others as suppressed ones
   */
  static <T, R> List<R> map(List<T> items, Function<T, R> function) {
    if (items.size() < 2) {
      return items.stream().map(function).toList();
    }
    try (var threads =
        Executors.newFixedThreadPool(Math.min(LIMIT, items.size()), Thread.ofVirtual().factory())) {
      List<Callable<R>> tasks =
          items.stream().<Callable<R>>map(item -> () -> function.apply(item)).toList();
      return results(threads.invokeAll(tasks));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the API server", e);
    }
  }

  private static <R> List<R> results(List<Future<R>> futures) throws InterruptedException {
    var results = new ArrayList<R>();
    var failures = new ArrayList<RuntimeException>();
    for (Future<R> future : futures) {
      try {
        results.add(future.get());
      } catch (ExecutionException e) {
        failures.add(
            e.getCause() instanceof RuntimeException failure
                ? failure
                : new IllegalStateException(e.getCause()));
      }
    }
    if (failures.isEmpty()) {
      return results;
    }
    RuntimeException first = failures.getFirst();
    failures.stream().skip(1).forEach(first::addSuppressed);
    throw first;
  }
}
