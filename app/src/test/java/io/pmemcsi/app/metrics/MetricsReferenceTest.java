package io.pmemcsi.app.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class MetricsReferenceTest {

  private static final Path FILE = Path.of("..", "docs", "metrics.md");

  private static final String HEAD =
      """
      # Metrics

      <!-- Generated from the code by `make generate`: do not edit. -->

      What each program serves under `/metrics`. A histogram `NAME` has the series `NAME_bucket`, `NAME_count` and
      `NAME_sum`. [Monitoring](monitoring.md) has ports, alerts and a dashboard.
      """;

  @Test
  void theReferenceIsWhatTheProgramsRegister() throws Exception {
    String expected = text();
    if (Boolean.getBoolean("pmem-csi.generate")) {
      Files.writeString(FILE, expected);
    }

    assertThat(FILE)
        .as("docs/metrics.md is stale: run 'make generate' and commit the result")
        .exists()
        .content(StandardCharsets.UTF_8)
        .isEqualTo(expected);
  }

  /** Rules and dashboard ask for metrics by name; a renamed one would never fire. */
  @Test
  void rulesAndDashboardUseMetricsThatExist() throws Exception {
    String reference = text();
    for (String name : List.of("rules.yaml", "dashboard.json")) {
      String file = Files.readString(Path.of("..", "deploy", "monitoring", name));
      Set<String> metrics =
          Pattern.compile("\\b(?:pmem|csi|scheduler|jvm|process)_\\w+")
              .matcher(file.replaceAll("pmem_csi:\\w+:\\w+", ""))
              .results()
              .map(match -> match.group().replaceFirst("_(bucket|count|sum)$", ""))
              .collect(Collectors.toSet());

      assertThat(metrics)
          .as(name)
          .hasSizeGreaterThan(5)
          .allSatisfy(metric -> assertThat(reference).contains("| `%s` |".formatted(metric)));
    }
  }

  private static String text() throws IOException, InterruptedException {
    Set<String> common =
        MetricFamily.parse(ProgramMetrics.common()).stream()
            .map(MetricFamily::name)
            .collect(Collectors.toSet());
    return HEAD
        + section(
            "Node driver",
            "`pmem-csi driver -mode=node`, port 10010.",
            ProgramMetrics.nodeDriver(),
            common)
        + section(
            "Controller",
            "`pmem-csi driver -mode=controller`, port 10010: scheduler extender, pod webhook and rescheduler.",
            ProgramMetrics.controller(),
            common)
        + section(
            "Central controller",
            "`pmem-csi driver -mode=controller -registryEndpoint=...`, port 10010, of a `Deployment` (`v1alpha1`).",
            ProgramMetrics.centralController(),
            common)
        + section("Operator", "`pmem-csi operator`, port 8080.", ProgramMetrics.operator(), common)
        + section(
            "All programs",
            "Version, process and Java runtime.",
            ProgramMetrics.common(),
            Set.of());
  }

  private static String section(String heading, String what, String page, Set<String> without) {
    return "\n## %s\n\n%s\n\n| metric | type | labels | unit | meaning |\n|---|---|---|---|---|\n%s"
        .formatted(
            heading,
            what,
            MetricFamily.parse(page).stream()
                .filter(family -> !without.contains(family.name()))
                .map(MetricFamily::row)
                .collect(Collectors.joining()));
  }
}
