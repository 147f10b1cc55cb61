package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The statuses that we wrote last. A cache may be behind them: compared with the status before that
 * one, what is found now may seem to be told already, and nobody would ever tell it, or to be news
 * although it was told.
 *
 * @param <R> the kind of resource
 * @param <S> its status
 */
final class StatusOverlay<R extends CustomResource<?, S>, S> {

  private final Map<String, Written<S>> last = new ConcurrentHashMap<>();

  private record Written<S>(String version, S status) {

    /** Versions count upwards, and are too long for some kinds of numbers. */
    boolean isNewerThan(String other) {
      return version.length() != other.length()
          ? version.length() > other.length()
          : version.compareTo(other) > 0;
    }
  }

  /** Takes note of a resource as the server has it. */
  void note(R resource) {
    var metadata = resource.getMetadata();
    var now = new Written<>(metadata.getResourceVersion(), resource.getStatus());
    last.merge(
        metadata.getUid(),
        now,
        (known, other) -> other.isNewerThan(known.version()) ? other : known);
  }

  /** A resource out of a cache with the newest status that we know of. */
  R newest(R cached, KubernetesSerialization serialization) {
    var metadata = cached.getMetadata();
    Written<S> known = last.get(metadata.getUid());
    if (known == null || !known.isNewerThan(metadata.getResourceVersion())) {
      return cached;
    }
    R result = serialization.clone(cached);
    result.setStatus(known.status());
    result.getMetadata().setResourceVersion(known.version());
    return result;
  }

  /** For a resource that is gone. */
  void forget(R resource) {
    last.remove(resource.getMetadata().getUid());
  }
}
