package io.pmemcsi.operator.pmemdriver;

import java.util.OptionalLong;

/** Asks a driver pod how much persistent memory it manages. */
@FunctionalInterface
interface MemoryReader {

  /** The bytes that the driver may use on its node; empty if it gives no answer. */
  OptionalLong managedBytes(String podIp);

  /** Reads the metric {@code pmem_amount_managed} from the pod's metrics. */
  static MemoryReader overHttp() {
    return ip -> PodMetrics.read(ip).map(MemoryReader::managed).orElseGet(OptionalLong::empty);
  }

  /**
   * From the text format of Prometheus. Memory that is there but not prepared counts in {@code
   * pmem_amount_total}, and is of no use to the driver.
   */
  static OptionalLong managed(String metrics) {
    try {
      return metrics
          .lines()
          .filter(line -> line.startsWith("pmem_amount_managed"))
          .map(line -> line.substring(line.lastIndexOf(' ') + 1))
          .mapToLong(value -> (long) Double.parseDouble(value))
          .max();
    } catch (NumberFormatException _) {
      return OptionalLong.empty();
    }
  }
}
