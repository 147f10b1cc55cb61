package io.pmemcsi.api.schema;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Patterns as API servers read them. To Go a dollar sign means the very end of a text, to Java also
 * the place before a newline there, with which a text would pass here and not on the server.
 */
final class GoPattern {

  /** A dollar sign, after what may contain one that means itself: escapes and sets. */
  private static final Pattern DOLLAR = Pattern.compile("(\\\\.|\\[(?:\\\\.|[^\\]\\\\])*\\])|\\$");

  private GoPattern() {}

  static Pattern compile(String pattern) {
    return Pattern.compile(
        DOLLAR
            .matcher(pattern)
            .replaceAll(
                found -> Matcher.quoteReplacement(found.group(1) == null ? "\\z" : found.group())));
  }
}
