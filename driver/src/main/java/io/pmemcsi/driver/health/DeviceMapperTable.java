package io.pmemcsi.driver.health;

import io.pmemcsi.driver.linux.block.DeviceNumber;
import java.util.List;

/** Which parts of other devices a logical volume consists of. */
record DeviceMapperTable(List<Segment> segments) {
  private static final int FIELDS = 5;

  DeviceMapperTable {
    segments = List.copyOf(segments);
  }

  /**
   * A part of the logical volume that is a part of another device.
   *
   * @param start where it begins on the logical volume
   * @param source where it is on the other device
   */
  record Segment(long start, DeviceNumber device, SectorRange source) {}

  /** Reads what {@code dmsetup table} prints for one device; only linear segments have DAX. */
  static DeviceMapperTable parse(String output) {
    return new DeviceMapperTable(
        output
            .lines()
            .map(line -> line.strip().split("\\s+", -1))
            .filter(parts -> parts.length == FIELDS && parts[2].equals("linear"))
            .map(
                parts ->
                    new Segment(
                        Long.parseLong(parts[0]),
                        DeviceNumber.parse(parts[3]),
                        new SectorRange(Long.parseLong(parts[4]), Long.parseLong(parts[1]))))
            .toList());
  }

  /** Where sectors of another device are on the logical volume. */
  List<SectorRange> locate(DeviceNumber device, List<SectorRange> sectors) {
    return segments.stream()
        .filter(segment -> segment.device().equals(device))
        .flatMap(
            segment ->
                sectors.stream()
                    .flatMap(range -> range.within(segment.source()).stream())
                    .map(range -> range.movedBy(segment.start() - segment.source().first())))
        .toList();
  }
}
