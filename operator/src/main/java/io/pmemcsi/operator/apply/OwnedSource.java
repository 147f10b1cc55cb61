package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;

/**
 * The watch of one kind of objects. What we have just written counts as there until the watch shows
 * it. If it is deleted while the watch is interrupted the watch never shows it, nor its end: it
 * would count as there for ever.
 */
final class OwnedSource<R extends HasMetadata, P extends HasMetadata>
    extends InformerEventSource<R, P> {

  OwnedSource(InformerEventSourceConfiguration<R> configuration, EventSourceContext<P> context) {
    super(configuration, context);
  }

  /** Whether we have written an object, and the watch has not shown it yet. */
  boolean awaits(ResourceID object) {
    return temporaryResourceCache.getResourceFromCache(object).isPresent();
  }

  /** The server has it no more. */
  void lost(R object) {
    temporaryResourceCache.onDeleteEvent(object, false);
  }
}
