package io.pmemcsi.driver.device.ndctl;

import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A stretch of memory that is one piece for the hardware: one or several interleaved modules.
 *
 * @param availableBytes what is free in all gaps together
 * @param maxExtentBytes the largest gap
 * @param gaps the size of each gap, as far as the kernel shows where namespaces are
 * @param unitBytes what sizes of namespaces must be a multiple of
 * @param numaNode the NUMA node that the memory belongs to, where the kernel knows it
 */
public record Region(
    String bus,
    String device,
    long sizeBytes,
    long availableBytes,
    long maxExtentBytes,
    List<Long> gaps,
    long unitBytes,
    boolean persistent,
    boolean enabled,
    boolean readOnly,
    OptionalInt numaNode,
    List<Namespace> namespaces) {

  /** For a region that does not report its alignment: right for up to six modules. */
  private static final long UNKNOWN_ALIGNMENT = 96L << 20;

  private static final Pattern NUMBER = Pattern.compile("\\d+");

  public Region {
    gaps = List.copyOf(gaps);
    namespaces = List.copyOf(namespaces);
    if (unitBytes <= 0) {
      throw new IllegalArgumentException("%s: sizes in units of %d".formatted(device, unitBytes));
    }
  }

  /** Whether volumes can be created here. */
  public boolean isUsable() {
    return persistent && enabled && !readOnly;
  }

  /** The names of those whose content is not visible until they are enabled. */
  public static List<String> disabled(List<Region> regions) {
    return regions.stream()
        .filter(region -> region.persistent() && !region.enabled())
        .map(Region::device)
        .toList();
  }

  /** The largest gap in whole units. */
  public long largestGap() {
    return floor(maxExtentBytes, unitBytes);
  }

  /** What volumes can hold together if each one fills a gap. */
  public long usableInGaps(NamespaceMode mode) {
    // a namespace that was created or destroyed while the kernel was asked makes them wrong
    boolean exact = gaps.stream().mapToLong(Long::longValue).sum() == availableBytes;
    return exact
        ? gaps.stream().mapToLong(gap -> mode.usableBytes(floor(gap, unitBytes))).sum()
        : estimate(mode);
  }

  /** Volumes as large as the largest gap, and a rest: right for up to two gaps. */
  private long estimate(NamespaceMode mode) {
    long all = floor(availableBytes, unitBytes);
    long gap = Math.min(largestGap(), all);
    return gap == 0 ? 0 : all / gap * mode.usableBytes(gap) + mode.usableBytes(all % gap);
  }

  /**
   * The unit of sizes: it suits huge pages on each of the interleaved modules, and the region.
   *
   * @param alignment as the kernel reports it, 1 or less when it does not
   */
  static long unit(int interleaveWays, long alignment) {
    long huge = NamespaceMode.HUGE_PAGE * Math.max(1, interleaveWays);
    return leastCommonMultiple(huge, alignment > 1 ? alignment : UNKNOWN_ALIGNMENT);
  }

  /** Numbers in device names, so that region10 comes after region9. */
  static long order(String device) {
    Matcher number = NUMBER.matcher(device);
    return number.find() ? Long.parseLong(number.group()) : 0;
  }

  private static long floor(long bytes, long unit) {
    return bytes - bytes % unit;
  }

  private static long leastCommonMultiple(long a, long b) {
    long x = a;
    long y = b;
    while (y != 0) {
      long rest = x % y;
      x = y;
      y = rest;
    }
    return a / x * b;
  }
}
