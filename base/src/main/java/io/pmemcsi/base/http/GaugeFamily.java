package io.pmemcsi.base.http;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A gauge whose documented name the metrics library refuses: it keeps {@code _total} for counters,
 * but {@code pmem_amount_total} is a gauge and existing dashboards ask for it.
 */
public record GaugeFamily(String name, String help, List<Sample> samples) {

  /** One value with its labels, in the order in which they are printed. */
  public record Sample(Map<String, String> labels, double value) {}

  public GaugeFamily {
    samples = List.copyOf(samples);
  }

  String text() {
    return samples.stream()
        .map(sample -> name + labels(sample.labels()) + " " + sample.value() + "\n")
        .collect(
            Collectors.joining(
                "", "# HELP %s %s\n# TYPE %s gauge\n".formatted(name, help, name), ""));
  }

  private static String labels(Map<String, String> labels) {
    if (labels.isEmpty()) {
      return "";
    }
    return labels.entrySet().stream()
        .map(label -> "%s=\"%s\"".formatted(label.getKey(), escape(label.getValue())))
        .collect(Collectors.joining(",", "{", "}"));
  }

  private static String escape(String value) {
    return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }
}
