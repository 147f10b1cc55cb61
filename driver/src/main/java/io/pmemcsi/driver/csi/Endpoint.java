package io.pmemcsi.driver.csi;

import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.base.file.FilePath;
import java.nio.file.Path;

/** The socket of the driver, from the flag {@code -endpoint}. */
public record Endpoint(Path socket) {

  private static final String SCHEME = "unix:";

  /** Understands {@code unix:///path}, {@code unix:/path} and a plain absolute path. */
  public static Endpoint parse(String text) {
    String path = text.startsWith(SCHEME) ? text.substring(SCHEME.length()) : text;
    if (text.startsWith(SCHEME) && path.startsWith("//")) {
      path = path.substring(2);
    }
    if (!path.startsWith("/")) {
      throw new UsageException(
          "endpoint \"%s\" is not a Unix socket: write unix:///path/to/csi.sock".formatted(text));
    }
    try {
      return new Endpoint(FilePath.parse(path));
    } catch (IllegalArgumentException e) {
      throw new UsageException("endpoint \"%s\": %s".formatted(text, e.getMessage()), e);
    }
  }

  @Override
  public String toString() {
    return "unix://" + socket;
  }
}
