package io.pmemcsi.driver.health;

import java.util.List;
import java.util.Optional;

/** Consecutive sectors of 512 bytes, the unit of the kernel whatever a device has. */
record SectorRange(long first, long count) {

  static final int SECTOR_BYTES = 512;

  SectorRange {
    if (first < 0 || count <= 0) {
      throw new IllegalArgumentException("no sectors: %d from %d on".formatted(count, first));
    }
  }

  /** Reads the attribute {@code badblocks} of sysfs: a line per range, first sector and count. */
  static List<SectorRange> parse(String text) {
    return text.lines()
        .filter(line -> !line.isBlank())
        .map(line -> line.strip().split("\\s+", -1))
        .map(parts -> new SectorRange(Long.parseLong(parts[0]), Long.parseLong(parts[1])))
        .toList();
  }

  /** The part of this range that another one covers. */
  Optional<SectorRange> within(SectorRange other) {
    long from = Math.max(first, other.first);
    long to = Math.min(first + count, other.first + other.count);
    return from < to ? Optional.of(new SectorRange(from, to - from)) : Optional.empty();
  }

  /** The same sectors, counted from elsewhere. */
  SectorRange movedBy(long sectors) {
    return new SectorRange(first + sectors, count);
  }
}
