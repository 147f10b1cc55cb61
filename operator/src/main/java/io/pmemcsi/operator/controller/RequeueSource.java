package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import io.javaoperatorsdk.operator.processing.event.source.controller.ResourceAction;
import io.javaoperatorsdk.operator.processing.event.source.controller.ResourceEvent;
import io.javaoperatorsdk.operator.processing.event.source.inbound.SimpleInboundEventSource;
import org.jspecify.annotations.Nullable;

/** Triggers a reconciliation where no watch does. */
final class RequeueSource<R extends HasMetadata> extends SimpleInboundEventSource<R> {

  private volatile @Nullable IndexerResourceCache<R> resources;

  RequeueSource() {
    super("requeue");
  }

  /** The reconciler's own cache shows which resources exist. */
  void observe(IndexerResourceCache<R> cache) {
    resources = cache;
  }

  /** Reconciles a resource although nothing of it changed. */
  void requeue(ResourceID id) {
    propagateEvent(id);
  }

  void requeueAll() {
    IndexerResourceCache<R> known = resources;
    if (known != null) {
      known.list(_ -> true).map(ResourceID::fromResource).forEach(this::requeue);
    }
  }

  /** Whether the reconciler's cache still has the resource. */
  boolean isPresent(ResourceID id) {
    IndexerResourceCache<R> known = resources;
    return known == null || known.get(id).isPresent();
  }

  /** Reconciles the resource of this name, whatever happened to an earlier one of that name. */
  void requeueIfPresent(ResourceID id) {
    IndexerResourceCache<R> known = resources;
    if (known != null) {
      known.get(id).ifPresent(this::added);
    }
  }

  /**
   * As if the watch had just shown it: JOSDK drops any other event for a resource that it does not
   * know, or relates it to the deleted one.
   */
  private void added(R resource) {
    if (isRunning()) {
      getEventHandler()
          .handleEvent(
              new ResourceEvent(ResourceAction.ADDED, ResourceID.fromResource(resource), resource));
    }
  }
}
