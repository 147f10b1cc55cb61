package io.pmemcsi.app.demo;

import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Prints a row whenever what a resource says of itself moves, up to the row that is waited for.
 * Only the table knows whether that row was shown: a status that somebody reads may be newer than
 * the last event that has come.
 */
final class StatusTable<T> implements Watcher<T> {

  private final Narrator.Table table;
  private final Function<T, List<String>> cells;
  private final Predicate<List<String>> last;
  private final long start = System.nanoTime();
  private List<String> shown = List.of();
  private volatile boolean complete;

  /**
   * @param table its first column is the time
   * @param cells those behind the time
   * @param last the row with which the table ends
   */
  StatusTable(Narrator.Table table, Function<T, List<String>> cells, Predicate<List<String>> last) {
    this.table = table;
    this.cells = cells;
    this.last = last;
  }

  /** Whether the last row was shown. */
  boolean isComplete() {
    return complete;
  }

  @Override
  public void eventReceived(Action action, T resource) {
    if (complete || (action != Action.ADDED && action != Action.MODIFIED)) {
      return;
    }
    List<String> row = cells.apply(resource);
    if (!row.equals(shown)) {
      shown = row;
      String time = Narrator.seconds(Duration.ofNanos(System.nanoTime() - start));
      table.row(Stream.concat(Stream.of(time), row.stream()).toArray(String[]::new));
      complete = last.test(row);
    }
  }

  @Override
  public void onClose(WatcherException cause) {
    // nothing moves any more
  }
}
