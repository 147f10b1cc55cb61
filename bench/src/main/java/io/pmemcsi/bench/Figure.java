package io.pmemcsi.bench;

import java.util.Locale;

/**
 * A measured value beside its promise.
 *
 * @param unit "" for a ratio
 */
public record Figure(String what, double value, String unit, Promise promise) {

  /** What the value is held against. */
  public sealed interface Promise {
    record AtMost(double limit) implements Promise {}

    record AtLeast(double limit) implements Promise {}
  }

  public static Figure atMost(double limit, String what, double value, String unit) {
    return new Figure(what, value, unit, new Promise.AtMost(limit));
  }

  public static Figure atLeast(double limit, String what, double value, String unit) {
    return new Figure(what, value, unit, new Promise.AtLeast(limit));
  }

  public boolean isKept() {
    return switch (promise) {
      case Promise.AtMost(double limit) -> value <= limit;
      case Promise.AtLeast(double limit) -> value >= limit;
    };
  }

  String line() {
    return String.format(
        Locale.ROOT,
        "%-62s %10.3f %-4s  %-14s %s",
        what,
        value,
        unit,
        switch (promise) {
          case Promise.AtMost(double limit) -> "at most " + number(limit);
          case Promise.AtLeast(double limit) -> "at least " + number(limit);
        },
        isKept() ? "kept" : "MISSED");
  }

  private static String number(double value) {
    return value == Math.rint(value)
        ? Long.toString((long) value)
        : String.format(Locale.ROOT, "%.2f", value);
  }
}
