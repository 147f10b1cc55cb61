package io.pmemcsi.driver.device;

/**
 * Bytes of persistent memory on this node.
 *
 * @param maxVolumeSize the largest single volume that can be created now
 * @param available all that is free for volumes; more than the above when it is fragmented
 * @param managed all that this driver may use, used or not
 * @param total all PMEM of the node, used or not, by any program
 */
public record Capacity(long maxVolumeSize, long available, long managed, long total) {

  /** A node without persistent memory. */
  public static final Capacity NONE = new Capacity(0, 0, 0, 0);

  /** What two parts of the memory provide together; a volume is in one of them. */
  public Capacity plus(Capacity other) {
    return new Capacity(
        Math.max(maxVolumeSize, other.maxVolumeSize),
        available + other.available,
        managed + other.managed,
        total + other.total);
  }

  public Capacity {
    if (maxVolumeSize < 0 || available < 0 || managed < 0 || total < 0) {
      throw new IllegalArgumentException(
          "capacity below zero: %d, %d, %d, %d"
              .formatted(maxVolumeSize, available, managed, total));
    }
  }
}
