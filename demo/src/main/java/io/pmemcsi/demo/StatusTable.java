package io.pmemcsi.demo;

import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Prints a row for each change of a resource's status, up to the awaited row. Only the table knows
 * whether that row was printed: a status that is read may be newer than the last watch event.
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
   * @param cells the other columns
   * @param last matches the last row
   */
  StatusTable(Narrator.Table table, Function<T, List<String>> cells, Predicate<List<String>> last) {
    this.table = table;
    this.cells = cells;
    this.last = last;
  }

  /** Whether the last row was printed. */
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
    // no more rows
  }
}
