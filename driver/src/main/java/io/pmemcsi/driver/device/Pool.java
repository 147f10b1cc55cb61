package io.pmemcsi.driver.device;

import java.util.List;
import java.util.OptionalInt;

/**
 * A part of the node's memory in which a volume is as a whole: a region, or the volume group of
 * one.
 *
 * @param region its name
 * @param numaNode the NUMA node that it belongs to, where the kernel knows it
 */
public record Pool(String region, OptionalInt numaNode, Capacity capacity) {

  /** What pools on one NUMA node provide together. */
  public static Capacity capacityOn(int numaNode, List<Pool> pools) {
    return pools.stream()
        .filter(pool -> isOn(pool.numaNode(), OptionalInt.of(numaNode)))
        .map(Pool::capacity)
        .reduce(Capacity.NONE, Capacity::plus);
  }

  /** Whether memory is where a request wants it. */
  public static boolean isOn(OptionalInt numaNode, OptionalInt requested) {
    return requested.isEmpty() || requested.equals(numaNode);
  }
}
