package io.pmemcsi.app.settings;

import io.pmemcsi.base.error.UsageException;
import java.util.Arrays;
import java.util.stream.Collectors;

/** What the driver program does: the values of {@code -mode}. */
public enum Mode {
  NODE("node", true),
  WEBHOOKS("webhooks", false),
  CONTROLLER("controller", false),
  FORCE_CONVERT_RAW_NAMESPACES("force-convert-raw-namespaces", true);

  private final String flag;
  private final boolean inThisRelease;

  Mode(String flag, boolean inThisRelease) {
    this.flag = flag;
    this.inThisRelease = inThisRelease;
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
                                .filter(mode -> mode.inThisRelease)
                                .map(Mode::toString)
                                .collect(Collectors.joining(" or ")))));
  }

  @Override
  public String toString() {
    return flag;
  }
}
