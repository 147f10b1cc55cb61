package io.pmemcsi.app.settings;

import io.pmemcsi.base.error.UsageException;
import java.util.Arrays;
import java.util.stream.Collectors;

/** What the driver program does: the values of {@code -mode}. */
public enum Mode {
  NODE("node"),
  CONTROLLER("controller"),
  /** The controller's name in earlier releases. */
  WEBHOOKS("webhooks"),
  FORCE_CONVERT_RAW_NAMESPACES("force-convert-raw-namespaces");

  private final String flag;

  Mode(String flag) {
    this.flag = flag;
  }

  /** Reads the flag's value. */
  public static Mode parse(String text) {
    return Arrays.stream(values())
        .filter(mode -> mode.flag.equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                new UsageException(
                    "-mode=%s is unknown: use %s"
                        .formatted(
                            text,
                            Arrays.stream(values())
                                .map(Mode::toString)
                                .collect(Collectors.joining(" or ")))));
  }

  @Override
  public String toString() {
    return flag;
  }
}
