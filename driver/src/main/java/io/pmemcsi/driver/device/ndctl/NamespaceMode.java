package io.pmemcsi.driver.device.ndctl;

import java.util.Arrays;

/**
 * What the memory of a namespace is used as. Part of it is metadata; how much is fixed by the
 * kernel's on-media formats, so that both directions can be computed beforehand.
 */
public enum NamespaceMode {
  /** A block device whose files can be mapped directly. */
  FSDAX("fsdax") {
    @Override
    public long usableBytes(long rawBytes) {
      // struct nd_pfn_sb and one struct page per page, in front of the data
      long pages = Math.max(0, rawBytes - INFO_BLOCKS) / PAGE;
      long dataOffset = Math.ceilDiv(INFO_BLOCKS + pages * STRUCT_PAGE, HUGE_PAGE) * HUGE_PAGE;
      return Math.max(0, rawBytes - dataOffset);
    }
  },

  /** A block device with atomic sectors (BTT), without DAX. */
  SECTOR("sector") {
    @Override
    public long usableBytes(long rawBytes) {
      long usable = 0;
      for (long left = rawBytes - PAGE; left >= ARENA_MIN; left -= ARENA_MAX) {
        long mapped = Math.min(left, ARENA_MAX) - ARENA_HEADERS;
        usable += (mapped / (PAGE + MAP_ENTRY) - FREE_BLOCKS) * PAGE;
      }
      return usable;
    }
  },

  /** All of the memory as it is; what a region without labels has. */
  RAW("raw") {
    @Override
    public long usableBytes(long rawBytes) {
      return rawBytes;
    }
  },

  /** Anything else, for example devdax: never owned. */
  OTHER("") {
    @Override
    public long usableBytes(long rawBytes) {
      return 0;
    }
  };

  /** Data begins at huge pages, so that they can be mapped. */
  public static final long HUGE_PAGE = 2L << 20;

  private static final long PAGE = 4096;
  private static final long INFO_BLOCKS = 8192;
  private static final long STRUCT_PAGE = 64;
  private static final long ARENA_MIN = 16L << 20;
  private static final long ARENA_MAX = 512L << 30;
  private static final long ARENA_HEADERS = 7 * PAGE;
  private static final long MAP_ENTRY = 4;
  private static final long FREE_BLOCKS = 256;

  private final String text;

  NamespaceMode(String text) {
    this.text = text;
  }

  /** ndctl's word for it. */
  public String text() {
    return text;
  }

  /** The size of the block device that a namespace of so many bytes of memory gives. */
  public abstract long usableBytes(long rawBytes);

  /** The smallest namespace, in whole units, whose block device has at least so many bytes. */
  public long rawBytes(long usableBytes, long unit) {
    long requested = Math.max(1, usableBytes);
    long units = Math.ceilDiv(requested, unit);
    long step = 1;
    while (usableBytes(units * unit) < requested) {
      units += step;
      step *= 2;
    }
    while (units > 1 && usableBytes((units - 1) * unit) >= requested) {
      units--;
    }
    return units * unit;
  }

  static NamespaceMode parse(String text) {
    return Arrays.stream(values())
        .filter(mode -> !mode.text.isEmpty() && mode.text.equals(text))
        .findFirst()
        .orElse(OTHER);
  }
}
