package io.pmemcsi.controller.capacity;

import java.io.IOException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the capacity of a node from the metrics of its driver. */
final class NodeMetrics {

  private static final String LARGEST = "pmem_amount_max_volume_size";
  private static final String AVAILABLE = "pmem_amount_available";
  private static final Pattern SAMPLE =
      Pattern.compile("(?<name>\\w+)(?:\\{(?<labels>.*)\\})?\\s+(?<value>\\S+)(?:\\s+-?\\d+)?");
  private static final Pattern DRIVER = Pattern.compile("\\bdriver_name=\"([^\"]*)\"");

  private NodeMetrics() {}

  /**
   * The capacity in a text in the Prometheus format.
   *
   * @param driver samples of other drivers are skipped
   * @throws IOException if there is no such capacity, or one that cannot be
   */
  static FreeCapacity read(Stream<String> lines, String driver) throws IOException {
    Optional<Long> largest = Optional.empty();
    Optional<Long> available = Optional.empty();
    for (String line : (Iterable<String>) lines::iterator) {
      if (!line.startsWith(LARGEST) && !line.startsWith(AVAILABLE)) {
        continue;
      }
      Matcher sample = SAMPLE.matcher(line);
      if (!sample.matches() || isOfAnother(sample.group("labels"), driver)) {
        continue;
      }
      switch (sample.group("name")) {
        case LARGEST -> largest = Optional.of(bytes(line, sample.group("value")));
        case AVAILABLE -> available = Optional.of(bytes(line, sample.group("value")));
        default -> {}
      }
    }
    if (largest.isEmpty()) {
      throw new IOException("the metrics have no %s of driver %s".formatted(LARGEST, driver));
    }
    // drivers before 0.8 do not report the sum
    return new FreeCapacity(available.orElse(largest.get()), largest.get());
  }

  private static boolean isOfAnother(@Nullable String labels, String driver) {
    Matcher name = DRIVER.matcher(labels == null ? "" : labels);
    return name.find() && !name.group(1).equals(driver);
  }

  private static long bytes(String line, String value) throws IOException {
    try {
      double bytes = Double.parseDouble(value);
      if (bytes >= 0 && bytes < Long.MAX_VALUE) {
        return (long) bytes;
      }
    } catch (NumberFormatException e) {
      // reported below, with the line
    }
    throw new IOException("\"%s\" is no amount of memory".formatted(line));
  }
}
