package io.pmemcsi.driver.device;

import java.nio.file.Path;

/** A block device that exists: which volume it is for, where its node is, how much fits on it. */
public record Device(VolumeId id, Path path, long sizeBytes) {

  public Device {
    if (sizeBytes < 0) {
      throw new IllegalArgumentException("a device cannot have %d bytes".formatted(sizeBytes));
    }
  }
}
