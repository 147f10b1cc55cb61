package io.pmemcsi.driver.device;

import java.util.Optional;

/** What a volume is meant for. */
public enum AccessModel {
  /** Applications map the memory directly: mounted with DAX. */
  APP_DIRECT("AppDirect"),
  /** Ordinary reads and writes: no DAX, sector-atomic namespaces in direct mode. */
  FILE_IO("FileIO");

  private final String text;

  AccessModel(String text) {
    this.text = text;
  }

  /** The value in storage classes and in the ledger. */
  public String text() {
    return text;
  }

  /** The usage with that name. */
  public static Optional<AccessModel> parse(String text) {
    return text.equals(APP_DIRECT.text)
        ? Optional.of(APP_DIRECT)
        : text.equals(FILE_IO.text) ? Optional.of(FILE_IO) : Optional.empty();
  }
}
