package io.pmemcsi.controller.volume;

import java.util.regex.Pattern;

/** The NUMA node that a storage class or an inline volume asks for. */
public final class NumaNode {

  /** Requests come from every pod of the cluster, and each number takes memory on each node. */
  private static final int MAX = 63;

  private static final Pattern NUMBER = Pattern.compile("\\d{1,2}");
  private static final Pattern LEADING_ZEROS = Pattern.compile("^0+(?=\\d)");

  private NumaNode() {}

  /** The same text for the same NUMA node; what is no number stays as it is. */
  public static String normalize(String text) {
    return LEADING_ZEROS.matcher(text.strip()).replaceFirst("");
  }

  /**
   * Checks a normalized value.
   *
   * @param text empty for any NUMA node
   * @throws IllegalArgumentException if it is not the number of a NUMA node
   */
  static void check(String text) {
    if (!text.isEmpty() && !(NUMBER.matcher(text).matches() && Integer.parseInt(text) <= MAX)) {
      throw new IllegalArgumentException(
          "parameter \"%s\": invalid value \"%s\", write the number of a NUMA node from 0 to %d"
              .formatted(VolumeClass.NUMA_NODE, text, MAX));
    }
  }
}
