package io.pmemcsi.driver.linux.block;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The number by which the kernel and its mount tables know a device. */
public record DeviceNumber(long major, long minor) {

  /** Of the device that a node stands for. */
  public static DeviceNumber of(Path node) throws IOException {
    return decode(((Number) Files.getAttribute(node, "unix:rdev")).longValue());
  }

  /** Reads the form of mount tables, {@code major:minor}. */
  public static DeviceNumber parse(String text) {
    int colon = text.indexOf(':');
    if (colon < 0) {
      throw new IllegalArgumentException("not a device number: " + text);
    }
    return new DeviceNumber(
        Long.parseLong(text.substring(0, colon)), Long.parseLong(text.substring(colon + 1)));
  }

  /** Whether the kernel has no such block device any more, which may still be mounted. */
  public boolean hasVanished() {
    // filesystems without a device have major number 0
    return major != 0 && !Files.exists(Path.of("/sys/dev/block", toString()));
  }

  private static DeviceNumber decode(long number) {
    return new DeviceNumber(
        (number >>> 8 & 0xfff) | (number >>> 32 & ~0xfffL),
        (number & 0xff) | (number >>> 12 & ~0xffL));
  }

  @Override
  public String toString() {
    return major + ":" + minor;
  }
}
