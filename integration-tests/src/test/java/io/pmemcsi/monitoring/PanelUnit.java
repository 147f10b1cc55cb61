package io.pmemcsi.monitoring;

import java.util.Locale;

/** How Grafana prints the values of a panel. */
enum PanelUnit {
  BYTES,
  SECONDS,
  PER_SECOND,
  PERCENT,
  NUMBER;

  /** Parts of an axis: numbers of things are shown as whole numbers. */
  static final int TICKS = 4;

  private static final String[] BINARY = {"B", "KiB", "MiB", "GiB", "TiB"};

  /** By its name in a dashboard. */
  static PanelUnit of(String grafana) {
    return switch (grafana) {
      case "bytes" -> BYTES;
      case "s" -> SECONDS;
      case "ops" -> PER_SECOND;
      case "percentunit" -> PERCENT;
      case "short" -> NUMBER;
      default -> throw new IllegalArgumentException("unit " + grafana + " is not known here");
    };
  }

  String text(double value) {
    return switch (this) {
      case BYTES -> bytes(value);
      case SECONDS -> value < 1 ? number(value * 1000) + " ms" : number(value) + " s";
      case PER_SECOND -> number(value) + "/s";
      case PERCENT -> number(value * 100) + " %";
      case NUMBER -> number(value);
    };
  }

  /** Where the axis of a panel ends, so that its ticks are round numbers. */
  double roundUp(double highest) {
    if (this == NUMBER && highest <= TICKS) {
      return TICKS;
    }
    if (highest <= 0) {
      return 1;
    }
    double base = this == BYTES ? Math.pow(1024, exponent(highest)) : 1;
    double magnitude = Math.pow(10, Math.floor(Math.log10(highest / base)));
    for (double step : new double[] {1, 2, 4, 6, 8, 10}) {
      if (highest <= step * magnitude * base) {
        return step * magnitude * base;
      }
    }
    throw new IllegalStateException("no axis for " + highest);
  }

  private static String bytes(double value) {
    int exponent = exponent(value);
    return number(value / Math.pow(1024, exponent)) + " " + BINARY[exponent];
  }

  private static int exponent(double bytes) {
    return bytes < 1 ? 0 : (int) Math.min(4, Math.log(bytes) / Math.log(1024));
  }

  private static String number(double value) {
    String text = String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.1f", value);
    return text.replaceFirst("\\.?0+$", "");
  }
}
