package io.pmemcsi.api;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads fields in which an empty text and a zero mean the same as nothing. */
public final class Written {

  private Written() {}

  /** The text, unless it is missing or empty. */
  public static Optional<String> text(@Nullable String text) {
    return Optional.ofNullable(text).filter(value -> !value.isEmpty());
  }

  /** The number, unless it is missing or zero. */
  public static Optional<Integer> number(@Nullable Integer number) {
    return Optional.ofNullable(number).filter(value -> value != 0);
  }
}
