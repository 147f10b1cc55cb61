package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import io.javaoperatorsdk.operator.processing.event.source.controller.ResourceAction;
import io.javaoperatorsdk.operator.processing.event.source.controller.ResourceEvent;
import io.javaoperatorsdk.operator.processing.event.source.inbound.SimpleInboundEventSource;
import org.jspecify.annotations.Nullable;

/** Wakes a reconciler where no watch does. */
public final class RequeueSource<R extends HasMetadata> extends SimpleInboundEventSource<R> {

  private volatile @Nullable IndexerResourceCache<R> resources;

  public RequeueSource() {
    super("wake-ups");
  }

  /** From where to know which resources there are: the reconciler's own cache. */
  public void know(IndexerResourceCache<R> cache) {
    resources = cache;
  }

  /** Has a resource looked at, although nothing of it changed. */
  public void wake(R resource) {
    propagateEvent(ResourceID.fromResource(resource));
  }

  /** Has a resource looked at that is there, whatever became of one of its name before. */
  public void lookIfThere(ResourceID id) {
    IndexerResourceCache<R> known = resources;
    if (known != null) {
      known.get(id).ifPresent(this::appeared);
    }
  }

  /**
   * As if the watch had shown it just now: any other event is dropped for what is not known, or is
   * taken for the one that is gone.
   */
  private void appeared(R resource) {
    if (isRunning()) {
      getEventHandler()
          .handleEvent(
              new ResourceEvent(ResourceAction.ADDED, ResourceID.fromResource(resource), resource));
    }
  }
}
