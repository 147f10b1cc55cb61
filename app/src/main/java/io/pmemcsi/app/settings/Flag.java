package io.pmemcsi.app.settings;

import io.pmemcsi.base.error.UsageException;
import java.util.Optional;
import java.util.function.Function;

/** Reads the value of one flag and names the flag where the value is wrong. */
public final class Flag {

  private Flag() {}

  /** A value that has to be there. */
  public static <T> T required(String name, String text, Function<String, T> reader) {
    try {
      return reader.apply(text);
    } catch (IllegalArgumentException e) {
      throw new UsageException("%s=%s: %s".formatted(name, text, e.getMessage()), e);
    }
  }

  /** A value that is switched off by empty text. */
  public static <T> Optional<T> optional(String name, String text, Function<String, T> reader) {
    return text.isEmpty() ? Optional.empty() : Optional.of(required(name, text, reader));
  }

  /** The spellings of true and false that Go programs take. */
  public static boolean bool(String text) {
    return switch (text) {
      case "1", "t", "T", "true", "TRUE", "True" -> true;
      case "0", "f", "F", "false", "FALSE", "False" -> false;
      default -> throw new IllegalArgumentException("write true or false");
    };
  }
}
