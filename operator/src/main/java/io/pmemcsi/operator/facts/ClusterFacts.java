package io.pmemcsi.operator.facts;

import java.util.Set;

/**
 * What the desired objects depend on besides their resource.
 *
 * @param namespace of namespaced objects
 * @param defaultImage of the driver, where the resource names none
 */
public record ClusterFacts(
    KubernetesVersion version, String namespace, String defaultImage, Set<ServedApi> apis) {

  public ClusterFacts {
    apis = Set.copyOf(apis);
  }

  /** The facts of a default cluster of a version, without a request. */
  public static ClusterFacts assumed(
      KubernetesVersion version, String namespace, String defaultImage) {
    // CSIStorageCapacity: alpha and off in 1.20, on by default as v1beta1 from 1.21, v1 from 1.24.
    return new ClusterFacts(
        version,
        namespace,
        defaultImage,
        version.atLeast(1, 21) ? Set.of(ServedApi.STORAGE_CAPACITY) : Set.of());
  }

  public boolean serves(ServedApi api) {
    return apis.contains(api);
  }
}
