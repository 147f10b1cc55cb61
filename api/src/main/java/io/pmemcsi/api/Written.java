package io.pmemcsi.api;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads fields as users write them: an empty text and a zero mean the same as nothing. */
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

  /** A copy in the order of the original: that of Map.copyOf differs from one run to the next. */
  public static @Nullable Map<String, String> copy(@Nullable Map<String, String> map) {
    return map == null ? null : Collections.unmodifiableMap(new LinkedHashMap<>(map));
  }
}
