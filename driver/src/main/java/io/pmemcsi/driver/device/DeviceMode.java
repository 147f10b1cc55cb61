package io.pmemcsi.driver.device;

import java.util.Locale;
import java.util.Optional;

/** Where the devices of volumes come from. */
public enum DeviceMode {
  /** Logical volumes in one volume group per region. */
  LVM,
  /** One namespace per volume. */
  DIRECT,
  /** Sparse files behind loop devices: no persistent memory needed, and no DAX. */
  FILE;

  /** The name in flags and in the ledger. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Understands the names of all releases. */
  public static Optional<DeviceMode> parse(String text) {
    return Optional.ofNullable(
        switch (text) {
          case "lvm" -> LVM;
          case "direct", "ndctl" -> DIRECT;
          case "file", "fake" -> FILE;
          default -> null;
        });
  }
}
