package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.CSIDriverBuilder;
import io.pmemcsi.api.SharedSettings;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.objects.CsiDriverFields;
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

  /** Another one than the driver's: the API server warns about equal names in one pod. */
  static final String PROVISIONER_METRICS_PORT_NAME = "metrics-prov";

  /** Selects the pods whose ports for metrics Prometheus scrapes. */
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

  /**
   * The driver's image.
   *
   * @throws IllegalArgumentException if neither the resource nor the operator names one
   */
  String image() {
    return settings
        .image()
        .or(facts::defaultImage)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "spec.image: missing, and the operator has no default image: set spec.image,"
                        + " or start the operator with -image=IMAGE or with POD_NAME set to the"
                        + " name of its pod"));
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
    return "-deviceManager=" + settings.deviceMode().text();
  }

  /** Whether the driver can expand its volumes. */
  boolean isExpandable() {
    return settings.deviceMode().isExpandable();
  }

  /**
   * Whether the driver's pods run a snapshotter: where the cluster has the API, and from the first
   * release that can run on each node for its own volumes.
   */
  public boolean takesSnapshots() {
    return facts.serves(ServedApi.SNAPSHOTS) && facts.version().atLeast(1, 22);
  }

  /** The condition of a driver whose snapshot classes cannot be created. */
  Optional<DeploymentCondition> snapshotClassesMissing() {
    if (settings.snapshotClassTemplates().isEmpty() || takesSnapshots()) {
      return Optional.empty();
    }
    return Optional.of(
        PmemCondition.SNAPSHOT_CLASSES_MISSING.isTrue(
            "The cluster cannot take snapshots.",
            "spec.snapshotClassTemplates is not applied: "
                + (facts.serves(ServedApi.SNAPSHOTS)
                    ? "snapshots on each node need Kubernetes 1.22 or newer, and this is "
                        + facts.version()
                    : "the server has no snapshot.storage.k8s.io/v1; install the CRDs and the"
                        + " snapshot-controller of external-snapshotter; the operator finds them"
                        + " within ten minutes")));
  }

  /** Whether the driver removes the startup taint from its node. */
  boolean removesStartupTaint() {
    return settings.startupTaint();
  }

  String driverNameArgument() {
    return "-drivername=$(" + DRIVER_NAME_VARIABLE + ")";
  }

  EnvVar driverNameVariable() {
    return Pods.variable(DRIVER_NAME_VARIABLE, names.driverName());
  }

  /** The security context of the controller's pods. */
  PodSecurityContext nonRoot() {
    return facts.serves(ServedApi.OPENSHIFT_SECURITY) ? Pods.nonRootOfPlatform() : Pods.nonRoot();
  }

  public CSIDriver csiDriver() {
    return CsiDriverFields.knownTo(
        facts,
        new CSIDriverBuilder()
            .withMetadata(clusterWide(names.driverName(), labels().common()))
            .withNewSpec()
            .withAttachRequired(false)
            .withPodInfoOnMount(true)
            // else a pod that is not root could not write to an inline volume without fsType
            .withFsGroupPolicy("File")
            .withVolumeLifecycleModes("Persistent", "Ephemeral")
            .withStorageCapacity(true)
            .withSeLinuxMount(true)
            // inline volumes have no other check of the scheduler
            .withPreventPodSchedulingIfMissing(true)
            .endSpec()
            .build());
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

  static Probe liveness(String path, String port) {
    return probe(path, port, 10, 6);
  }

  /** Five minutes: on a busy node a JVM needs more than one to start. */
  static Probe startup(String path, String port) {
    return probe(path, port, 1, 300);
  }

  private static Probe probe(String path, String port, int periodSeconds, int failures) {
    Probe probe = Pods.httpProbe(path, port, periodSeconds, failures);
    probe.getHttpGet().setScheme("HTTP");
    return probe;
  }
}
