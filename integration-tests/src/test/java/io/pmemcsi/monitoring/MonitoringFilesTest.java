package io.pmemcsi.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The files for Prometheus fit together: job names and labels are those that the rules need. */
class MonitoringFilesTest {

  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  /** A PodMonitor gets job names and labels of its own where it does not replace them. */
  @Test
  void podMonitorsGiveTheLabelsOfTheScrapeConfiguration() throws IOException {
    Map<String, Map<String, String>> jobs = jobs();
    Map<String, Map<String, String>> monitored = new TreeMap<>();
    for (JsonNode monitor : monitors()) {
      for (JsonNode endpoint : monitor.at("/spec/podMetricsEndpoints")) {
        Map<String, String> labels = new TreeMap<>();
        for (JsonNode rule : endpoint.path("relabelings")) {
          labels.put(
              rule.path("targetLabel").asText(),
              rule.path("sourceLabels").path(0).asText(rule.path("replacement").asText()));
        }
        String job = labels.remove("job");
        assertThat(monitored.getOrDefault(job, labels)).isEqualTo(labels);
        monitored.put(job, labels);
      }
    }

    assertThat(monitored).isEqualTo(jobs);
  }

  @Test
  void podMonitorsFindThePortsOfADriver() throws IOException {
    var ports = new TreeSet<String>();
    for (JsonNode monitor : monitors()) {
      monitor
          .at("/spec/podMetricsEndpoints")
          .forEach(endpoint -> ports.add(endpoint.path("port").asText()));
    }

    assertThat(
            Pattern.compile("(?m)- name: (\\S*metrics\\S*)$")
                .matcher(read("deploy/kubernetes-1.34/pmem-csi-lvm.yaml"))
                .results()
                .map(name -> name.group(1))
                .distinct())
        .containsExactlyInAnyOrderElementsOf(ports);
  }

  /** Otherwise a rule is tested on series that no program has. */
  @Test
  void seriesOfTheRulesTestHaveLabelsThatAreScraped() throws IOException {
    Map<String, Set<String>> documented = documented();
    var scraped = new TreeSet<String>(List.of("job"));
    jobs().values().forEach(labels -> scraped.addAll(labels.keySet()));

    for (JsonNode test : yaml(read("deploy/monitoring/rules-test.yaml")).path("tests")) {
      for (JsonNode input : test.path("input_series")) {
        String series = input.path("series").asText();
        String metric = series.replaceFirst("\\{.*", "");
        if (metric.equals("up")) {
          assertThat(labels(series)).isSubsetOf(scraped);
          continue;
        }
        String name = documented.containsKey(metric) ? metric : metric.replaceFirst("_count$", "");
        assertThat(documented).as("docs/metrics.md").containsKey(name);
        var allowed = new TreeSet<>(scraped);
        allowed.addAll(documented.getOrDefault(name, Set.of()));
        assertThat(labels(series)).as(series).isSubsetOf(allowed);
      }
    }
  }

  private static List<String> labels(String series) {
    return Pattern.compile("(\\w+)=\"").matcher(series).results().map(m -> m.group(1)).toList();
  }

  /** Metrics and their labels, from the reference. */
  private static Map<String, Set<String>> documented() throws IOException {
    Map<String, Set<String>> metrics = new HashMap<>();
    Pattern.compile("(?m)^\\| `(\\w+)` \\| \\w+ \\|([^|]*)\\|")
        .matcher(read("docs/metrics.md"))
        .results()
        .forEach(
            row ->
                Pattern.compile("`(\\w+)`")
                    .matcher(row.group(2))
                    .results()
                    .forEach(
                        label ->
                            metrics
                                .computeIfAbsent(row.group(1), _ -> new TreeSet<>())
                                .add(label.group(1))));
    return metrics;
  }

  /** For each job the source of each label. */
  private static Map<String, Map<String, String>> jobs() throws IOException {
    Map<String, Map<String, String>> jobs = new TreeMap<>();
    String configs = yaml(read("deploy/prometheus.yaml")).path("extraScrapeConfigs").asText();
    for (JsonNode job : yaml(configs)) {
      Map<String, String> labels = new TreeMap<>();
      for (JsonNode rule : job.path("relabel_configs")) {
        if (rule.has("target_label")) {
          labels.put(
              rule.path("target_label").asText(), rule.path("source_labels").path(0).asText());
        }
      }
      jobs.put(job.path("job_name").asText(), labels);
    }
    assertThat(jobs).hasSize(2);
    return jobs;
  }

  private static List<JsonNode> monitors() throws IOException {
    var monitors = new ArrayList<JsonNode>();
    for (String document : read("deploy/monitoring/podmonitors.yaml").split("(?m)^---$", -1)) {
      monitors.add(yaml(document));
    }
    assertThat(monitors).hasSize(2);
    return monitors;
  }

  private static JsonNode yaml(String text) {
    return Serialization.unmarshal(text, JsonNode.class);
  }

  private static String read(String file) throws IOException {
    return Files.readString(ROOT.resolve(file));
  }
}
