package io.pmemcsi.operator.facts;

import io.pmemcsi.api.Violation;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What the desired objects depend on besides their resource.
 *
 * @param namespace of namespaced objects
 * @param defaultImage of the driver, where the resource names none; empty if the operator knows
 *     none
 */
public record ClusterFacts(
    KubernetesVersion version,
    String namespace,
    Optional<String> defaultImage,
    Set<ServedApi> apis) {

  public ClusterFacts {
    apis = Set.copyOf(apis);
  }

  /** With a default image. */
  public ClusterFacts(
      KubernetesVersion version, String namespace, String defaultImage, Set<ServedApi> apis) {
    this(version, namespace, Optional.of(defaultImage), apis);
  }

  /** The facts of a default cluster of a version, without a request. */
  public static ClusterFacts assumed(
      KubernetesVersion version, String namespace, String defaultImage) {
    var apis = EnumSet.noneOf(ServedApi.class);
    // alpha and off in 1.20, on by default as v1beta1 from 1.21, v1 from 1.24
    if (version.atLeast(1, 21)) {
      apis.add(ServedApi.STORAGE_CAPACITY);
    }
    if (version.atLeast(1, 30)) {
      apis.add(ServedApi.ADMISSION_POLICIES);
    }
    return new ClusterFacts(version, namespace, defaultImage, apis);
  }

  /**
   * The violations that count on this server. Fields of a newer Kubernetes than the client library
   * knows are left to the server, whose dry run names those that it does not have.
   */
  public List<Violation> applicable(List<Violation> violations) {
    boolean newer = version.compareTo(KubernetesVersion.OF_LIBRARY) > 0;
    return violations.stream()
        .filter(violation -> !(newer && violation.unknownToLibrary()))
        .toList();
  }

  public boolean serves(ServedApi api) {
    return apis.contains(api);
  }
}
