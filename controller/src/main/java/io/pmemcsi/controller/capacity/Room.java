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
public record Room(long available, long largest) {

  static final Room NONE = new Room(0, 0);

  public Room {
    if (available < 0 || largest < 0) {
      throw new IllegalArgumentException(
          "capacity is negative: available %d, largest volume %d".formatted(available, largest));
    }
    // a volume cannot be larger than all free space; sources may report the two at different times
    largest = Math.min(largest, available);
  }

  /**
   * What is left when other volumes have been created. Where the space has several parts, those may
   * come out of any of them: at worst all out of the largest one, or evenly out of each.
   */
  Room without(long promised) {
    if (promised <= 0 || available == 0) {
      return this;
    }
    long left = Math.max(0, available - promised);
    long parts = largest == 0 ? 1 : Math.ceilDiv(available, largest);
    return new Room(left, Math.max(Math.max(0, largest - promised), left / parts));
  }

  /**
   * Why volumes do not fit together; empty if they do. Concatenated instead of formatted: this may
   * be asked thousands of times for one pod.
   */
  Optional<String> refusal(List<NeededVolume> volumes) {
    long total = total(volumes);
    if (total > available) {
      return Optional.of(
          "only "
              + ByteQuantity.format(available)
              + " of PMEM available, need "
              + ByteQuantity.format(total));
    }
    long biggest = 0;
    for (NeededVolume volume : volumes) {
      biggest = Math.max(biggest, volume.bytes());
    }
    return biggest > largest
        ? Optional.of(
            "only "
                + ByteQuantity.format(largest)
                + " of PMEM available in one piece, need "
                + ByteQuantity.format(biggest))
        : Optional.empty();
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
