package io.pmemcsi.demo;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;

/** Prints what happens, in lines that fit a terminal. */
final class Narrator {

  private final PrintStream out;
  private final long start = System.nanoTime();

  Narrator(PrintStream out) {
    this.out = out;
  }

  void heading(String text) {
    out.printf("%n%s%n%s%n", text, "=".repeat(text.length()));
  }

  void say(String line) {
    out.println(line);
  }

  /** Starts a table whose columns have these widths; the last column may be longer. */
  Table table(String[] titles, int... widths) {
    return new Table(titles, widths);
  }

  /** The time since the demo started. */
  Duration elapsed() {
    return Duration.ofNanos(System.nanoTime() - start);
  }

  static String seconds(Duration duration) {
    return String.format(Locale.ROOT, "%.3f s", duration.toNanos() / 1e9);
  }

  /** Rows are printed immediately, so that users see the progress. */
  final class Table {

    private final int[] widths;

    private Table(String[] titles, int[] widths) {
      this.widths = widths;
      row(titles);
      row(Arrays.stream(titles).map(title -> "-".repeat(title.length())).toArray(String[]::new));
    }

    void row(String... cells) {
      StringBuilder line = new StringBuilder("  ");
      for (int i = 0; i < cells.length; i++) {
        boolean last = i == cells.length - 1;
        line.append(last ? cells[i] : ("%-" + widths[i] + "s  ").formatted(cells[i]));
      }
      synchronized (out) {
        out.println(line.toString().stripTrailing());
      }
    }
  }
}
