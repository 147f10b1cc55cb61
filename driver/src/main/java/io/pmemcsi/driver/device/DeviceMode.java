package io.pmemcsi.driver.device;

import java.util.Arrays;
import java.util.Optional;

/** Where the devices of volumes come from, and what such devices can do. */
public enum DeviceMode {
  /** Logical volumes in one volume group per region. */
  LVM("lvm", "", true, true),

  /** One namespace per volume. */
  DIRECT("direct", "ndctl", true, false),

  /** Files behind loop devices: no persistent memory needed, and no DAX. */
  FILE("file", "fake", false, true);

  private final String text;
  private final String formerText;
  private final boolean usesPmem;
  private final boolean expandable;

  DeviceMode(String text, String formerText, boolean usesPmem, boolean expandable) {
    this.text = text;
    this.formerText = formerText;
    this.usesPmem = usesPmem;
    this.expandable = expandable;
  }

  /** The name in flags and in the ledger. */
  public String text() {
    return text;
  }

  /** Whether devices are made of persistent memory, and filesystems on them support DAX. */
  public boolean usesPmem() {
    return usesPmem;
  }

  /** Whether a device can be expanded while it is in use. */
  public boolean isExpandable() {
    return expandable;
  }

  /** Accepts the names of all releases. */
  public static Optional<DeviceMode> parse(String text) {
    return Arrays.stream(values())
        .filter(_ -> !text.isEmpty())
        .filter(mode -> mode.text.equals(text) || mode.formerText.equals(text))
        .findFirst();
  }
}
