package io.pmemcsi.operator.controller;

import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.api.reconciler.Constants;
import io.javaoperatorsdk.operator.processing.GroupVersionKind;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Reports when JOSDK's cleanup after a deleted resource is done. JOSDK tracks resources by name; if
 * one is recreated during cleanup, its events are dropped. {@code cleanupDoneFor} is the only hook
 * afterwards, so the resource is requeued there.
 */
public final class CleanupListener implements Metrics {

  private final Map<String, Consumer<ResourceID>> listeners = new ConcurrentHashMap<>();

  /** For resources of a kind. */
  public void listen(String kind, Consumer<ResourceID> listener) {
    listeners.put(kind, listener);
  }

  @Override
  public void cleanupDoneFor(ResourceID resource, Map<String, Object> metadata) {
    if (metadata.get(Constants.RESOURCE_GVK_KEY) instanceof GroupVersionKind kind) {
      Optional.ofNullable(listeners.get(kind.getKind()))
          .ifPresent(listener -> listener.accept(resource));
    }
  }
}
