package io.pmemcsi.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/** Draws a Grafana dashboard as SVG, each panel at its place in the grid. */
final class DashboardPicture {

  private static final int COLUMN = 50;
  private static final int ROW = 30;
  private static final int GAP = 8;
  private static final int COLUMNS = 24;

  private DashboardPicture() {}

  /** Asks for the data of a query. */
  @FunctionalInterface
  interface Data {
    JsonNode result(String query) throws Exception;
  }

  static String of(JsonNode dashboard, Data data) throws Exception {
    var panels = new StringBuilder();
    int rows = 0;
    for (JsonNode panel : dashboard.path("panels")) {
      JsonNode place = panel.path("gridPos");
      rows = Math.max(rows, place.path("y").asInt() + place.path("h").asInt());
      panels
          .append(
              "<g transform=\"translate(%d %d)\">%n"
                  .formatted(
                      place.path("x").asInt() * COLUMN + GAP, place.path("y").asInt() * ROW + GAP))
          .append(panel(panel, data))
          .append("</g>\n");
    }
    int width = COLUMNS * COLUMN + GAP;
    int height = rows * ROW + GAP;
    return """
        <svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" \
        font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="13">
        <rect width="100%%" height="100%%" fill="#f4f5f7"/>
        """
            .formatted(width, height, width, height)
        + panels
        + "</svg>\n";
  }

  private static String panel(JsonNode panel, Data data) throws Exception {
    String title = panel.path("title").asText();
    String type = panel.path("type").asText();
    if (type.equals("row")) {
      return "<text x=\"4\" y=\"20\" font-size=\"16\" fill=\"#24292f\">%s</text>%n"
          .formatted(title);
    }
    List<Series> series = new ArrayList<>();
    for (JsonNode target : panel.path("targets")) {
      series.addAll(
          Series.of(
              data.result(target.path("expr").asText()), target.path("legendFormat").asText()));
    }
    return PanelPicture.of(
        type,
        title,
        PanelUnit.of(panel.at("/fieldConfig/defaults/unit").asText()),
        panel.at("/gridPos/w").asInt() * COLUMN - GAP,
        panel.at("/gridPos/h").asInt() * ROW - GAP,
        series);
  }
}
