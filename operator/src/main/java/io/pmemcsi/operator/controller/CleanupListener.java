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
 * Tells when the SDK is done with a resource that is gone. It keeps books by name. Where a
 * reconciler is called for the end of a resource, all that was heard meanwhile of another one of
 * that name is lost with it; where the SDK itself takes the finalizer off, it takes that other one
 * for the one that is gone. Either way nobody would look at that one before its next change. Only
 * the interface for metrics tells of this moment.
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
