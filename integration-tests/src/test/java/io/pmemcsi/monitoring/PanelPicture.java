package io.pmemcsi.monitoring;

import io.pmemcsi.monitoring.Series.Point;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Draws one panel as SVG, into a box whose corner is the origin. */
final class PanelPicture {

  private static final String[] COLOURS = {
    "#3f7fbf", "#d9822b", "#4c9a57", "#b8484e", "#7d62a8", "#8a6d5a", "#c877a8", "#7f8c8d"
  };
  private static final DateTimeFormatter CLOCK =
      DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);
  private static final int TIMES = 3;
  private static final int LEFT = 62;
  private static final int RIGHT = 18;
  private static final int TOP = 36;
  private static final int LINE = 15;

  /** Width of a character in a legend. */
  private static final int CHARACTER = 7;

  /** Entries of a legend are at most as long as this. */
  private static final int NAME = 48;

  private final int width;
  private final int height;
  private final PanelUnit unit;
  private final StringBuilder svg = new StringBuilder();

  private PanelPicture(int width, int height, PanelUnit unit) {
    this.width = width;
    this.height = height;
    this.unit = unit;
  }

  /**
   * The elements of a panel.
   *
   * @param type as in the dashboard
   */
  static String of(
      String type, String title, PanelUnit unit, int width, int height, List<Series> series) {
    var picture = new PanelPicture(width, height, unit);
    picture.add(
        "<rect width=\"%d\" height=\"%d\" rx=\"4\" fill=\"#fff\" stroke=\"#d8dde3\"/>"
            .formatted(width, height));
    picture.text(12, 22, "font-weight=\"bold\" fill=\"#24292f\"", title);
    switch (type) {
      case "timeseries" -> picture.lines(series);
      case "stat" -> picture.number(series.getFirst().last());
      case "gauge" -> picture.gauge(series.getFirst().last());
      default -> throw new IllegalArgumentException("no picture for panels of type " + type);
    }
    return picture.svg.toString();
  }

  private void number(double value) {
    text(
        width / 2.0,
        height / 2.0 + 28,
        "font-size=\"48\" text-anchor=\"middle\" fill=\"%s\"".formatted(COLOURS[2]),
        unit.text(value));
  }

  /** A half circle that is filled from the left. */
  private void gauge(double share) {
    double radius = Math.min(width / 2.0 - 40, height - 80.0);
    double x = width / 2.0;
    double y = height - 36.0;
    arc(x, y, radius, 1, "#e6e9ed");
    arc(x, y, radius, share, share < 0.1 ? COLOURS[3] : COLOURS[2]);
    text(x, y - 8, "font-size=\"34\" text-anchor=\"middle\" fill=\"#24292f\"", unit.text(share));
  }

  private void arc(double x, double y, double radius, double share, String colour) {
    double angle = Math.PI * (1 - Math.clamp(share, 0, 1));
    add(
        "<path d=\"M %s %s A %s %s 0 0 1 %s %s\" fill=\"none\" stroke=\"%s\" stroke-width=\"22\"/>"
            .formatted(
                pixels(x - radius),
                pixels(y),
                pixels(radius),
                pixels(radius),
                pixels(x + radius * Math.cos(angle)),
                pixels(y - radius * Math.sin(angle)),
                colour));
  }

  private void lines(List<Series> series) {
    int longest = series.stream().mapToInt(line -> shortened(line.name()).length()).max().orElse(0);
    int columns = Math.max(1, (width - LEFT) / (longest * CHARACTER + 34));
    int rows = (series.size() + columns - 1) / columns;
    double bottom = height - 30.0 - (double) rows * LINE;
    double from = series.stream().mapToDouble(s -> s.points().getFirst().time()).min().orElse(0);
    double last = series.stream().mapToDouble(s -> s.points().getLast().time()).max().orElse(1);
    double to = Math.max(last, from + 1);
    double highest =
        unit.roundUp(
            series.stream()
                .flatMap(line -> line.points().stream())
                .mapToDouble(Point::value)
                .max()
                .orElse(1));
    axes(bottom, highest, from, to);
    for (int i = 0; i < series.size(); i++) {
      String colour = COLOURS[i % COLOURS.length];
      String points =
          series.get(i).points().stream()
              .map(
                  point ->
                      pixels(LEFT + (point.time() - from) / (to - from) * (width - LEFT - RIGHT))
                          + ","
                          + pixels(bottom - point.value() / highest * (bottom - TOP)))
              .collect(Collectors.joining(" "));
      add(
          "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"/>"
              .formatted(points, colour));
      double x = LEFT + i % columns * ((width - LEFT - RIGHT) / (double) columns);
      int row = i / columns;
      double y = bottom + 36 + (double) row * LINE;
      add(
          "<rect x=\"%s\" y=\"%s\" width=\"14\" height=\"4\" fill=\"%s\"/>"
              .formatted(pixels(x), pixels(y - 6), colour));
      text(x + 19, y, "font-size=\"11\" fill=\"#57606a\"", shortened(series.get(i).name()));
    }
  }

  private void axes(double bottom, double highest, double from, double to) {
    for (int i = 0; i <= PanelUnit.TICKS; i++) {
      double y = bottom - i * (bottom - TOP) / PanelUnit.TICKS;
      add(
          "<line x1=\"%d\" y1=\"%s\" x2=\"%d\" y2=\"%s\" stroke=\"#e6e9ed\"/>"
              .formatted(LEFT, pixels(y), width - RIGHT, pixels(y)));
      text(
          LEFT - 6,
          y + 4,
          "font-size=\"11\" text-anchor=\"end\" fill=\"#57606a\"",
          unit.text(highest * i / PanelUnit.TICKS));
    }
    for (int i = 0; i <= TIMES; i++) {
      text(
          LEFT + i * (width - LEFT - RIGHT) / (double) TIMES,
          bottom + 16,
          "font-size=\"11\" text-anchor=\"%s\" fill=\"#57606a\""
              .formatted(i == 0 ? "start" : i == TIMES ? "end" : "middle"),
          CLOCK.format(Instant.ofEpochSecond((long) (from + i * (to - from) / TIMES))));
    }
  }

  private static String shortened(String name) {
    return name.length() <= NAME ? name : name.substring(0, NAME - 3) + "...";
  }

  private void text(double x, double y, String attributes, String text) {
    add(
        "<text x=\"%s\" y=\"%s\" %s>%s</text>"
            .formatted(
                pixels(x),
                pixels(y),
                attributes,
                text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")));
  }

  private void add(String element) {
    svg.append(element).append('\n');
  }

  private static String pixels(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
