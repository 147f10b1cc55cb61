package io.pmemcsi.operator.tools.status;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the metrics of PMEM-CSI on a node show.
 *
 * @param available bytes for new volumes; null for a driver without the metric
 * @param maxVolumeSize the largest volume that can be created, in bytes
 * @param erased by volume ID, which fraction of a volume that is being erased is overwritten
 */
record NodeMetrics(
    @Nullable Long available, @Nullable Long maxVolumeSize, Map<String, Double> erased) {

  /** The label app.kubernetes.io/name of the pods of PMEM-CSI on the nodes. */
  static final String POD_NAME = "pmem-csi-node";

  private static final String PORT = "metrics";

  private static final String SAMPLE = "(?m)^%s(?:\\{.*})? ([-+.0-9eE]+)$";
  private static final Pattern AVAILABLE =
      Pattern.compile(SAMPLE.formatted("pmem_amount_available"));
  private static final Pattern MAX_VOLUME_SIZE =
      Pattern.compile(SAMPLE.formatted("pmem_amount_max_volume_size"));
  private static final Pattern ERASED =
      Pattern.compile("(?m)^pmem_csi_erase_progress_ratio\\{volume=\"([^\"]+)\"} ([.0-9eE-]+)$");

  NodeMetrics {
    erased = Map.copyOf(erased);
  }

  /** From the text format of Prometheus. */
  static NodeMetrics parse(String text) {
    var erased = new HashMap<String, Double>();
    ERASED
        .matcher(text)
        .results()
        .forEach(sample -> erased.put(sample.group(1), Double.valueOf(sample.group(2))));
    return new NodeMetrics(bytes(AVAILABLE, text), bytes(MAX_VOLUME_SIZE, text), erased);
  }

  private static @Nullable Long bytes(Pattern metric, String text) {
    return metric
        .matcher(text)
        .results()
        .map(sample -> (long) Double.parseDouble(sample.group(1)))
        .findFirst()
        .orElse(null);
  }

  /** The port at which a pod serves these metrics; empty if it is not one of PMEM-CSI. */
  static OptionalInt port(Pod pod) {
    return POD_NAME.equals(Fields.label(pod, "app.kubernetes.io/name"))
        ? pod.getSpec().getContainers().stream()
            .flatMap(container -> container.getPorts().stream())
            .filter(port -> PORT.equals(port.getName()))
            .mapToInt(port -> port.getContainerPort())
            .findFirst()
        : OptionalInt.empty();
  }

  /**
   * The pods whose metrics show more than the API server: on nodes for which no capacity is
   * published, and on those that erase volumes.
   */
  static List<Pod> needed(ClusterData cluster) {
    return cluster.resources().stream()
        .map(ResourceStatus::new)
        .flatMap(resource -> needed(resource, cluster))
        .distinct()
        .toList();
  }

  private static Stream<Pod> needed(ResourceStatus resource, ClusterData cluster) {
    DriverReport report = DriverReport.of(resource, cluster);
    Set<String> nodes =
        Stream.concat(
                report.nodes().stream()
                    .filter(node -> node.state() == NodeReport.State.REGISTERED)
                    .filter(node -> node.free() == null)
                    .map(NodeReport::node),
                report.volumes().stream()
                    .filter(VolumeReport::isBeingDeleted)
                    .map(VolumeReport::node))
            .collect(Collectors.toSet());
    return new DriverPods(resource, cluster)
        .pods().stream()
            .filter(pod -> nodes.contains(Fields.text(pod.getSpec().getNodeName())))
            .filter(pod -> port(pod).isPresent());
  }
}
