package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;

/**
 * Watches one kind of owned objects. JOSDK caches an object that we wrote until its event arrives.
 * If the object is deleted while the watch is interrupted, neither event ever arrives, and the
 * cached object would stay for ever.
 */
final class OwnedSource<R extends HasMetadata, P extends HasMetadata>
    extends InformerEventSource<R, P> {

  OwnedSource(InformerEventSourceConfiguration<R> configuration, EventSourceContext<P> context) {
    super(configuration, context);
  }

  /** Whether the event of our own write has not arrived yet. */
  boolean awaitsEvent(ResourceID object) {
    return temporaryResourceCache.getResourceFromCache(object).isPresent();
  }

  /** Drops an object that no longer exists on the server. */
  void evict(R object) {
    temporaryResourceCache.onDeleteEvent(object, false);
  }
}
