package io.pmemcsi.base.file;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Parses the name of a file or directory, which the locale of the process may not support. */
public final class FilePath {

  private FilePath() {}

  /**
   * The path that a text names.
   *
   * @throws IllegalArgumentException that says in one line why there is none
   */
  public static Path parse(String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException(
          "it has a character that no path can have in this locale: set LC_ALL=C.UTF-8, or choose"
              + " another name",
          e);
    }
  }
}
