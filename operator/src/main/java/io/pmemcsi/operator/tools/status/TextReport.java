package io.pmemcsi.operator.tools.status;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Prints reports for a human: what is wrong comes first. */
public final class TextReport {

  private static final int BAR = 20;
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

  private TextReport() {}

  public static String of(List<DriverReport> reports) {
    return reports.stream().map(TextReport::of).collect(Collectors.joining("\n"));
  }

  private static String of(DriverReport report) {
    var text = new StringBuilder();
    text.append(
        "%s: %s (%s)\n"
            .formatted(
                report.driver(),
                report.phase().isEmpty() ? "new" : report.phase(),
                report.resource()));
    report.problems().forEach(problem -> text.append("  ! ").append(problem).append('\n'));
    if (!report.reason().isEmpty()
        && report.problems().stream().noneMatch(one -> one.contains(report.reason()))) {
      text.append("  ").append(report.reason()).append('\n');
    }
    section(text, "In progress", report.progress().stream().map(List::of).toList());
    section(
        text,
        "Conditions",
        report.conditions().stream()
            .map(one -> List.of(one.type(), one.status(), one.message()))
            .toList());
    section(
        text,
        "Components",
        report.components().stream()
            .map(one -> List.of(one.name(), one.status(), one.reason()))
            .toList());
    section(text, "Nodes", report.nodes().stream().map(TextReport::node).toList());
    section(
        text,
        "Volumes",
        report.volumes().stream()
            .map(
                one ->
                    List.of(
                        one.claim().isEmpty() ? one.name() : one.claim(),
                        size(one.bytes()),
                        one.phase(),
                        one.node(),
                        String.join(", ", one.pods())))
            .toList());
    section(
        text,
        "Snapshots",
        report.snapshots().stream()
            .map(
                one ->
                    List.of(
                        one.name(),
                        size(one.bytes()),
                        one.ready() ? "Ready" : "NotReady",
                        one.node(),
                        one.volume()))
            .toList());
    return text.toString();
  }

  private static List<String> node(NodeReport node) {
    Long free = node.free();
    Long largest = node.largest();
    if (node.state() != NodeReport.State.REGISTERED || free == null) {
      return List.of(node.node(), size(node.used()) + " used", note(node.state()), "");
    }
    return List.of(
        node.node(),
        bar(node.used(), free),
        "%s used, %s free".formatted(size(node.used()), size(free)),
        largest == null ? "" : "largest volume " + size(largest));
  }

  private static String note(NodeReport.State state) {
    return switch (state) {
      case REGISTERED -> "no capacity is published";
      case NOT_REGISTERED -> "the driver is not registered";
      case LOST -> "the node does not exist";
    };
  }

  private static String bar(long used, long free) {
    long total = used + free;
    int filled = total == 0 ? 0 : (int) Math.ceilDiv(used * BAR, total);
    return "[" + "#".repeat(filled) + ".".repeat(BAR - filled) + "]";
  }

  /** Columns as wide as their longest entry. */
  private static void section(StringBuilder text, String title, List<List<String>> rows) {
    if (rows.isEmpty()) {
      return;
    }
    text.append("  ").append(title).append('\n');
    for (List<String> row : rows) {
      var line = new StringBuilder("   ");
      for (int i = 0; i < row.size(); i++) {
        int column = i;
        int width = rows.stream().mapToInt(one -> one.get(column).length()).max().orElse(0);
        line.append(' ').append(row.get(i)).repeat(' ', width - row.get(i).length() + 1);
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
  }

  static String size(long bytes) {
    double value = bytes;
    int unit = 0;
    while (value >= 1024 && unit < UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    return String.format(
        Locale.ROOT, value == Math.rint(value) ? "%.0f %s" : "%.1f %s", value, UNITS[unit]);
  }
}
