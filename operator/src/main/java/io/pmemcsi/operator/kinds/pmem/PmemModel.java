package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.HTTPGetActionBuilder;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.operator.facts.ClusterFacts;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** One driver in one cluster: what all of its objects are made from. */
record PmemModel(PmemSettings settings, ClusterFacts facts) {

  /** The driver's program in its image. */
  static final String COMMAND = "/usr/local/bin/pmem-csi-driver";

  static final int METRICS_PORT = 10010;
  static final int PROVISIONER_METRICS_PORT = 10011;

  /** Tells Prometheus to look for ports named metrics. */
  static final Map<String, String> SCRAPE = Map.of("pmem-csi.intel.com/scrape", "containers");

  private static final String DRIVER_NAME_VARIABLE = "PMEM_CSI_DRIVER_NAME";

  PmemNames names() {
    return new PmemNames(settings.driver());
  }

  PmemLabels labels() {
    return new PmemLabels(settings.driver().value(), settings.labels());
  }

  String image() {
    return settings.image().orElse(facts.defaultImage());
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

  String driverNameArgument() {
    return "-drivername=$(" + DRIVER_NAME_VARIABLE + ")";
  }

  EnvVar driverNameVariable() {
    return variable(DRIVER_NAME_VARIABLE, names().driverName());
  }

  /** The node selector as JSON, always in the same order so that nothing restarts for nothing. */
  String nodeSelectorArgument() {
    return new TreeMap<>(settings.nodeSelector())
        .entrySet().stream()
            .map(label -> "\"%s\":\"%s\"".formatted(label.getKey(), label.getValue()))
            .collect(Collectors.joining(",", "-nodeSelector={", "}"));
  }

  /** The number of controllers, only where the user wrote one. */
  Optional<Integer> writtenReplicas() {
    var spec = settings.spec();
    return Written.number(spec.controllerReplicas())
        .or(() -> Written.number(spec.controllReplicas()));
  }

  ObjectMeta namespaced(String name, Map<String, String> labels) {
    return new ObjectMetaBuilder()
        .withName(name)
        .withNamespace(facts.namespace())
        .withLabels(labels)
        .build();
  }

  static ObjectMeta clusterWide(String name, Map<String, String> labels) {
    return new ObjectMetaBuilder().withName(name).withLabels(labels).build();
  }

  static EnvVar variable(String name, String value) {
    return new EnvVarBuilder().withName(name).withValue(value).build();
  }

  /** A variable that the kubelet fills in from the pod. */
  static EnvVar podField(String name, String path) {
    return new EnvVarBuilder()
        .withName(name)
        .withNewValueFrom()
        .withNewFieldRef()
        .withApiVersion("v1")
        .withFieldPath(path)
        .endFieldRef()
        .endValueFrom()
        .build();
  }

  static Probe liveness(String path) {
    return probe(path, 10, 6);
  }

  static Probe startup(String path, int seconds) {
    return probe(path, 1, seconds);
  }

  private static Probe probe(String path, int periodSeconds, int failures) {
    return new ProbeBuilder()
        .withHttpGet(
            new HTTPGetActionBuilder()
                .withScheme("HTTP")
                .withPath(path)
                .withPort(new IntOrString("metrics"))
                .build())
        .withPeriodSeconds(periodSeconds)
        .withTimeoutSeconds(5)
        .withFailureThreshold(failures)
        .build();
  }
}
