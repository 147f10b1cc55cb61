package io.pmemcsi.app.metrics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A metric as a metrics page describes it. */
record MetricFamily(String name, String type, Set<String> labels, String help) {

  private static final Pattern SAMPLE = Pattern.compile("(\\w+?)(\\{.*\\})? \\S+");
  private static final Pattern LABEL = Pattern.compile("[{,](\\w+)=\"");

  /** Labels that the text format adds to samples of histograms and summaries. */
  private static final Set<String> OF_THE_FORMAT = Set.of("le", "quantile");

  /** Suffixes of names; the last ones are those of earlier releases. */
  private static final Map<String, String> UNITS =
      Map.of(
          ".*_seconds(_total)?", "seconds",
          ".*_bytes(_total)?", "bytes",
          ".*_ratio", "0 to 1",
          "pmem_(region_)?amount_.*", "bytes",
          ".*_(created|updated)_at", "seconds");

  /** Reads a page in the text format of Prometheus. */
  static List<MetricFamily> parse(String page) {
    Map<String, String> help = new HashMap<>();
    Map<String, String> types = new TreeMap<>();
    Map<String, Set<String>> labels = new HashMap<>();
    String current = "";
    for (String line : page.lines().toList()) {
      if (line.startsWith("# ")) {
        String[] words = line.split(" ", 4);
        current = words[2];
        (words[1].equals("HELP") ? help : types).put(current, words[3]);
      } else {
        Matcher sample = SAMPLE.matcher(line);
        if (!sample.matches()) {
          throw new IllegalArgumentException("not a sample: " + line);
        }
        Set<String> names = labels.computeIfAbsent(current, _ -> new TreeSet<>());
        if (sample.group(2) != null) {
          LABEL.matcher(sample.group(2)).results().forEach(label -> names.add(label.group(1)));
        }
        names.removeAll(OF_THE_FORMAT);
      }
    }
    List<MetricFamily> families = new ArrayList<>();
    types.forEach(
        (name, type) ->
            families.add(
                new MetricFamily(
                    name, type, labels.getOrDefault(name, Set.of()), help.getOrDefault(name, ""))));
    families.sort(Comparator.comparing(MetricFamily::name));
    return families;
  }

  String unit() {
    return UNITS.entrySet().stream()
        .filter(unit -> name.matches(unit.getKey()))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse("");
  }

  String row() {
    return "| `%s` | %s | %s | %s | %s |\n"
        .formatted(
            name,
            type,
            labels.stream().map("`%s`"::formatted).collect(Collectors.joining(", ")),
            unit(),
            help);
  }
}
