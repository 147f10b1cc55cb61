package io.pmemcsi.base.log;

import io.pmemcsi.base.error.UsageException;
import java.util.Locale;

/** The documented values of {@code -logging-format}. */
public enum LogFormat {
  /** The traditional klog lines. */
  TEXT,
  /** One JSON object per line. */
  JSON;

  /** Reads the flag's value. */
  public static LogFormat parse(String text) {
    return switch (text) {
      case "text" -> TEXT;
      case "json" -> JSON;
      default ->
          throw new UsageException(
              "-logging-format=%s is unknown: use text or json".formatted(text));
    };
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
