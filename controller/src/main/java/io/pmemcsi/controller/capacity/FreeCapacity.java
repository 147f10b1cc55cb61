package io.pmemcsi.controller.capacity;

import io.pmemcsi.controller.volume.ByteQuantity;
import io.pmemcsi.controller.volume.NeededVolume;
import java.util.List;
import java.util.Optional;

/**
 * Free space on a node.
 *
 * @param available what all new volumes together can take
 * @param largest the largest single volume that can be created
 */
public record FreeCapacity(long available, long largest) {

  static final FreeCapacity NONE = new FreeCapacity(0, 0);

  public FreeCapacity {
    if (available < 0 || largest < 0) {
      throw new IllegalArgumentException(
          "capacity is negative: available %d, largest volume %d".formatted(available, largest));
    }
    // a volume cannot be larger than all free space; sources may report the two at different times
    largest = Math.min(largest, available);
  }

  /** What two parts of a node have together. */
  FreeCapacity plus(FreeCapacity other) {
    return new FreeCapacity(available + other.available, Math.max(largest, other.largest));
  }

  /**
   * What is certainly left when other volumes have been created: where the space has several parts,
   * all of them may come out of the largest one, and the others may be small.
   */
  FreeCapacity without(long reserved) {
    return reserved <= 0
        ? this
        : new FreeCapacity(Math.max(0, available - reserved), Math.max(0, largest - reserved));
  }

  /** Why volumes do not fit together; empty if they do. */
  Optional<String> refusal(List<NeededVolume> volumes) {
    return refusal(total(volumes), largest(volumes));
  }

  /**
   * Why volumes do not fit together; empty if they do. Concatenated instead of formatted: this may
   * be asked thousands of times for one pod.
   *
   * @param total of all volumes
   * @param biggest of them
   */
  Optional<String> refusal(long total, long biggest) {
    if (total > available) {
      return Optional.of(
          "only "
              + ByteQuantity.format(available)
              + " of PMEM available, need "
              + ByteQuantity.format(total));
    }
    return biggest > largest
        ? Optional.of(
            "only "
                + ByteQuantity.format(largest)
                + " of PMEM available in one piece, need "
                + ByteQuantity.format(biggest))
        : Optional.empty();
  }

  /** The size of the largest volume. */
  static long largest(List<NeededVolume> volumes) {
    long largest = 0;
    for (NeededVolume volume : volumes) {
      largest = Math.max(largest, volume.bytes());
    }
    return largest;
  }

  /** The sum of all sizes, at most the largest number. */
  static long total(List<NeededVolume> volumes) {
    long total = 0;
    for (NeededVolume volume : volumes) {
      total = total > Long.MAX_VALUE - volume.bytes() ? Long.MAX_VALUE : total + volume.bytes();
    }
    return total;
  }
}
