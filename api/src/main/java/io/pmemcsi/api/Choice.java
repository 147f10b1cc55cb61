package io.pmemcsi.api;

import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One of the values that a field may have, as an enum whose constants know their spelling. */
public interface Choice {

  /** How users write it. */
  String text();

  /** The constant with this spelling, if there is one. */
  static <E extends Enum<E> & Choice> Optional<E> find(Class<E> choices, String text) {
    return Arrays.stream(choices.getEnumConstants())
        .filter(choice -> choice.text().equals(text))
        .findFirst();
  }

  /**
   * The constant with this spelling, or the default where the user wrote nothing.
   *
   * @throws IllegalArgumentException for a spelling that no constant has
   */
  static <E extends Enum<E> & Choice> E orDefault(@Nullable String text, E byDefault) {
    if (text == null || text.isEmpty()) {
      return byDefault;
    }
    return find(byDefault.getDeclaringClass(), text)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "\"%s\" is none of %s"
                        .formatted(
                            text,
                            Arrays.stream(byDefault.getDeclaringClass().getEnumConstants())
                                .map(Choice::text)
                                .toList())));
  }
}
