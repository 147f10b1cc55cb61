package io.pmemcsi.app.settings;

import io.pmemcsi.base.error.UsageException;

/** How volumes are made from the memory of a node: the values of {@code -deviceManager}. */
public enum DeviceManager {
  LVM,
  DIRECT,
  FILE;

  /** Reads the flag's value, also under the names of earlier releases. */
  public static DeviceManager parse(String text) {
    return switch (text) {
      case "lvm" -> LVM;
      case "direct", "ndctl" -> DIRECT;
      case "file", "fake" -> FILE;
      default ->
          throw new UsageException(
              "-deviceManager=%s is unknown: use lvm, direct or file".formatted(text));
    };
  }
}
