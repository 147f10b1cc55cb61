package io.pmemcsi.operator.pmemdriver;

import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Asks a central controller which nodes have registered with it. */
final class RegistryReader {

  private static final String METRIC = "pmem_csi_node_registered";
  private static final Pattern SAMPLE =
      Pattern.compile("(?m)^%s\\{node=\"([^\"]+)\"} 1".formatted(METRIC));

  private RegistryReader() {}

  /** The names of the nodes; empty if the controller gives no answer. */
  static Optional<Set<String>> nodes(String podIp) {
    return PodMetrics.read(podIp).flatMap(RegistryReader::registered);
  }

  /** From the text format of Prometheus. Earlier releases do not have the metric. */
  static Optional<Set<String>> registered(String metrics) {
    return metrics.contains("# TYPE %s ".formatted(METRIC))
        ? Optional.of(
            SAMPLE
                .matcher(metrics)
                .results()
                .map(sample -> sample.group(1))
                .collect(Collectors.toSet()))
        : Optional.empty();
  }
}
