package io.pmemcsi.base.log;

import ch.qos.logback.classic.Level;

/**
 * The documented log levels by number: 3 is for production, 4 adds the commands that are run, 5
 * adds their output. Errors and warnings are always shown.
 *
 * @param value as given with {@code -v}
 */
public record Verbosity(int value) {

  public static final Verbosity PRODUCTION = new Verbosity(3);

  public Verbosity {
    if (value < 0) {
      throw new IllegalArgumentException(
          "log level %d is negative: use 3 for production, 4 or 5 for more".formatted(value));
    }
  }

  /** What our own code may log. */
  Level own() {
    return switch (value) {
      case 0, 1, 2 -> Level.WARN;
      case 3 -> Level.INFO;
      case 4 -> Level.DEBUG;
      default -> Level.TRACE;
    };
  }

  /** What libraries may log: they speak of their insides, which is for developers only. */
  Level libraries() {
    if (!forDevelopers()) {
      return Level.WARN;
    }
    return value < 8 ? Level.INFO : Level.DEBUG;
  }

  /** Whether internals of libraries are logged. */
  boolean forDevelopers() {
    return value >= 5;
  }

  /** The number under which an event of our code is known. */
  static int of(Level level) {
    return switch (level.toInt()) {
      case Level.INFO_INT -> 3;
      case Level.DEBUG_INT -> 4;
      case Level.TRACE_INT -> 5;
      default -> 0;
    };
  }
}
