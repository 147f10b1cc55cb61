package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.pmemcsi.api.SharedSettings;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.objects.Pods;
import io.pmemcsi.operator.objects.Sidecar;
import io.pmemcsi.operator.objects.SidecarRelease;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * One PMEM-CSI driver in one cluster, whichever version of the API describes it: all of its objects
 * are computed from this.
 */
public record PmemModel(
    PmemNames names, SharedSettings settings, Sizing sizing, ClusterFacts facts) {

  /** The driver's program in its image. */
  static final String COMMAND = "/usr/local/bin/pmem-csi-driver";

  static final int METRICS_PORT = 10010;
  static final int PROVISIONER_METRICS_PORT = 10011;
  static final String METRICS_PORT_NAME = "metrics";

  /** Selects the pods whose ports named metrics Prometheus scrapes. */
  static final Map<String, String> SCRAPE = Map.of("pmem-csi.intel.com/scrape", "containers");

  private static final String DRIVER_NAME_VARIABLE = "PMEM_CSI_DRIVER_NAME";

  /**
   * How much of the cluster the driver takes.
   *
   * @param controllerReplicas only where the user wrote a number: else it is the server's default
   *     or an autoscaler's
   * @param maxUnavailable nodes without a driver during an update
   */
  public record Sizing(
      Optional<Integer> controllerReplicas,
      IntOrString maxUnavailable,
      ResourceRequirements controller,
      ResourceRequirements nodeDriver,
      ResourceRequirements provisioner,
      ResourceRequirements nodeRegistrar) {}

  public PmemLabels labels() {
    return new PmemLabels(names.driverName(), settings.labels());
  }

  String image() {
    return settings.image().orElse(facts.defaultImage());
  }

  SidecarRelease release(Sidecar sidecar) {
    return SidecarRelease.of(sidecar, facts.version());
  }

  String pullPolicy() {
    return switch (settings.pullPolicy()) {
      case ALWAYS -> "Always";
      case IF_NOT_PRESENT -> "IfNotPresent";
      case NEVER -> "Never";
    };
  }

  String verbosity() {
    return "-v=" + settings.logLevel();
  }

  String loggingFormat() {
    return "-logging-format="
        + switch (settings.logFormat()) {
          case TEXT -> "text";
          case JSON -> "json";
        };
  }

  String deviceManagerArgument() {
    return "-deviceManager="
        + switch (settings.deviceMode()) {
          case LVM -> "lvm";
          case DIRECT -> "direct";
          case FILE -> "file";
        };
  }

  String driverNameArgument() {
    return "-drivername=$(" + DRIVER_NAME_VARIABLE + ")";
  }

  EnvVar driverNameVariable() {
    return Pods.variable(DRIVER_NAME_VARIABLE, names.driverName());
  }

  /** The node selector as JSON, in a fixed order so that no pod restarts without a change. */
  String nodeSelectorArgument() {
    return new TreeMap<>(settings.nodeSelector())
        .entrySet().stream()
            .map(label -> "\"%s\":\"%s\"".formatted(label.getKey(), label.getValue()))
            .collect(Collectors.joining(",", "-nodeSelector={", "}"));
  }

  public ObjectMeta namespaced(String name, Map<String, String> labels) {
    return new ObjectMetaBuilder()
        .withName(name)
        .withNamespace(facts.namespace())
        .withLabels(labels)
        .build();
  }

  public static ObjectMeta clusterWide(String name, Map<String, String> labels) {
    return new ObjectMetaBuilder().withName(name).withLabels(labels).build();
  }

  static Probe liveness(String path) {
    return probe(path, 10, 6);
  }

  static Probe startup(String path, int seconds) {
    return probe(path, 1, seconds);
  }

  private static Probe probe(String path, int periodSeconds, int failures) {
    Probe probe = Pods.httpProbe(path, METRICS_PORT_NAME, periodSeconds, failures);
    probe.getHttpGet().setScheme("HTTP");
    return probe;
  }
}
