package io.pmemcsi.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One line of a panel.
 *
 * @param name as in the legend
 */
record Series(String name, List<Point> points) {

  private static final Pattern LABEL = Pattern.compile("\\{\\{(\\w+)}}");

  /**
   * A sample.
   *
   * @param time in seconds of Unix time
   */
  record Point(double time, double value) {}

  Series {
    points = List.copyOf(points);
  }

  /** Reads the result of a range query; the legend is in Grafana's form. */
  static List<Series> of(JsonNode result, String legend) {
    List<Series> series = new ArrayList<>();
    for (JsonNode line : result) {
      List<Point> points = new ArrayList<>();
      for (JsonNode value : line.path("values")) {
        double number = Double.parseDouble(value.path(1).asText());
        if (Double.isFinite(number)) {
          points.add(new Point(value.path(0).asDouble(), number));
        }
      }
      if (!points.isEmpty()) {
        series.add(new Series(name(legend, line.path("metric")), points));
      }
    }
    return series;
  }

  double last() {
    return points.getLast().value();
  }

  private static String name(String legend, JsonNode labels) {
    return LABEL
        .matcher(legend)
        .replaceAll(label -> Matcher.quoteReplacement(labels.path(label.group(1)).asText()))
        .strip();
  }
}
