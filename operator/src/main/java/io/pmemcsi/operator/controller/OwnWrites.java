package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The versions of resources that the operator wrote last. JOSDK caches each write, but drops it at
 * the next event about the resource, even if that event is older (ControllerEventSource of 5.2.3
 * does not compare versions). A reconciliation with such an outdated status would lose updates.
 */
final class OwnWrites<R extends HasMetadata> {

  private final Map<String, String> versions = new ConcurrentHashMap<>();

  void record(R written) {
    versions.merge(
        written.getMetadata().getUid(),
        written.getMetadata().getResourceVersion(),
        (known, other) -> isNewer(other, known) ? other : known);
  }

  /** The resource itself, or the server's where the cache is behind the last own write. */
  R fresh(R cached, KubernetesClient client) {
    if (!isOutdated(cached)) {
      return cached;
    }
    R current = client.resource(cached).get();
    return current != null && current.getMetadata().getUid().equals(cached.getMetadata().getUid())
        ? current
        : cached;
  }

  boolean isOutdated(R cached) {
    String own = versions.get(cached.getMetadata().getUid());
    return own != null && isNewer(own, cached.getMetadata().getResourceVersion());
  }

  void forget(R resource) {
    versions.remove(resource.getMetadata().getUid());
  }

  /** Versions count upwards, and are too long for some types of numbers. */
  private static boolean isNewer(String one, String other) {
    return one.length() != other.length()
        ? one.length() > other.length()
        : one.compareTo(other) > 0;
  }
}
