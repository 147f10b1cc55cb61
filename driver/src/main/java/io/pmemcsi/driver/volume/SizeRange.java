package io.pmemcsi.driver.volume;

import io.pmemcsi.driver.volume.VolumeException.InvalidRequest;

/**
 * The requested size of a volume.
 *
 * @param limitBytes zero when there is no limit
 */
public record SizeRange(long requiredBytes, long limitBytes) {
  /** Any size. */
  public static final SizeRange ANY = new SizeRange(0, 0);

  public SizeRange {
    if (requiredBytes < 0) {
      throw new InvalidRequest(
          "capacity_range.required_bytes %d is negative".formatted(requiredBytes));
    }
    if (limitBytes < 0) {
      throw new InvalidRequest("capacity_range.limit_bytes %d is negative".formatted(limitBytes));
    }
    if (limitBytes > 0 && requiredBytes > limitBytes) {
      throw new InvalidRequest(
          "capacity_range.required_bytes %d is more than limit_bytes %d"
              .formatted(requiredBytes, limitBytes));
    }
  }

  /** The same range with a higher minimum, where the limit allows it. */
  public SizeRange atLeast(long bytes) {
    boolean possible = limitBytes == 0 || bytes <= limitBytes;
    return possible ? new SizeRange(Math.max(requiredBytes, bytes), limitBytes) : this;
  }

  public boolean includes(long bytes) {
    return bytes >= requiredBytes && !isExceededBy(bytes);
  }

  public boolean isExceededBy(long bytes) {
    return limitBytes > 0 && bytes > limitBytes;
  }

  @Override
  public String toString() {
    return limitBytes == 0
        ? "at least " + Quantity.format(requiredBytes)
        : "%s to %s".formatted(Quantity.format(requiredBytes), Quantity.format(limitBytes));
  }
}
