package io.pmemcsi.driver.linux.mount;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A SELinux context, equal to every other spelling of it: the kernel shows {@code s0:c456,c123} as
 * {@code s0:c123,c456}, {@code s0:c1,c2,c3} as {@code s0:c1.c3} and {@code s0-s0} as {@code s0}.
 *
 * @param label user, role and type
 * @param levels one, or the lowest and the highest
 */
public record SelinuxContext(String label, List<Level> levels) {

  private static final Pattern FORMAT = Pattern.compile("([^:]*:[^:]*:[^:]*)(?::(.*))?");
  private static final Pattern CATEGORIES = Pattern.compile("c(\\d{1,5})(?:\\.c(\\d{1,5}))?");

  public SelinuxContext {
    levels = List.copyOf(levels);
  }

  /**
   * A sensitivity with categories.
   *
   * @param categories numbers with all between the ends of a range, and names as they are written
   */
  public record Level(String sensitivity, Set<String> categories) {

    public Level {
      categories = Set.copyOf(categories);
    }

    private static Level of(String text) {
      int colon = text.indexOf(':');
      if (colon < 0) {
        return new Level(text, Set.of());
      }
      Set<String> categories = new HashSet<>();
      for (String each : text.substring(colon + 1).split(",", -1)) {
        Matcher range = CATEGORIES.matcher(each);
        if (range.matches()) {
          int first = Integer.parseInt(range.group(1));
          int last = range.group(2) == null ? first : Integer.parseInt(range.group(2));
          for (int number = first; number <= last; number++) {
            categories.add("c" + number);
          }
        } else {
          categories.add(each);
        }
      }
      return new Level(text.substring(0, colon), categories);
    }
  }

  /** Reads a context as users and the mount table write it. */
  public static SelinuxContext of(String text) {
    Matcher parts = FORMAT.matcher(text);
    if (!parts.matches() || parts.group(2) == null) {
      return new SelinuxContext(text, List.of());
    }
    return new SelinuxContext(
        parts.group(1),
        Arrays.stream(parts.group(2).split("-", 2)).map(Level::of).distinct().toList());
  }
}
