package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The kinds of objects that a controller creates, and the event sources that map changes of such
 * objects to their owner. Only objects with ownership labels are watched, to save memory.
 *
 * @param namespaces of namespaced objects; empty for all
 * @param compact whether to trade time for memory, because there may be thousands of objects
 */
public record OwnedKinds(
    List<Class<? extends HasMetadata>> kinds,
    Set<String> namespaces,
    OwnershipLabels ownership,
    boolean compact) {

  public OwnedKinds {
    kinds = List.copyOf(kinds);
    namespaces = Set.copyOf(namespaces);
  }

  /** Kinds with few objects. */
  public OwnedKinds(
      List<Class<? extends HasMetadata>> kinds, Set<String> namespaces, OwnershipLabels ownership) {
    this(kinds, namespaces, ownership, false);
  }

  /** One event source per kind. */
  public <P extends HasMetadata> List<EventSource<?, P>> eventSources(
      EventSourceContext<P> context) {
    var sources = new ArrayList<EventSource<?, P>>();
    for (Class<? extends HasMetadata> kind : kinds) {
      sources.add(eventSource(kind, context));
    }
    return sources;
  }

  /** A cached object, of any owner. */
  public <P extends HasMetadata> Optional<? extends HasMetadata> find(
      Class<? extends HasMetadata> kind, ResourceID id, Context<P> context) {
    var source =
        (InformerEventSource<? extends HasMetadata, P>)
            context.eventSourceRetriever().getEventSourceFor(kind, sourceName(kind));
    return source.get(id);
  }

  static String sourceName(Class<? extends HasMetadata> kind) {
    return "owned-" + HasMetadata.getKind(kind);
  }

  private <R extends HasMetadata, P extends HasMetadata> EventSource<?, P> eventSource(
      Class<R> kind, EventSourceContext<P> context) {
    Class<P> primary = context.getPrimaryResourceClass();
    var builder =
        InformerEventSourceConfiguration.from(kind, primary)
            .withName(sourceName(kind))
            .withLabelSelector(ownership.uidLabel())
            .withSecondaryToPrimaryMapper(object -> owners(object, primary));
    if (compact) {
      builder.withItemStore(
          new CompactStore<>(kind, context.getClient().getKubernetesSerialization()));
    }
    boolean limited = Namespaced.class.isAssignableFrom(kind) && !namespaces.isEmpty();
    return new OwnedSource<>(
        (limited ? builder.withNamespaces(namespaces) : builder.withWatchAllNamespaces()).build(),
        context);
  }

  private Set<ResourceID> owners(HasMetadata object, Class<? extends HasMetadata> primary) {
    String kind = HasMetadata.getKind(primary);
    return ownership.ownerOf(object, kind).stream()
        .map(
            owner ->
                owner.get(0).isEmpty()
                    ? new ResourceID(owner.get(1))
                    : new ResourceID(owner.get(1), owner.get(0)))
        .collect(Collectors.toSet());
  }
}
