package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
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

  /**
   * The owner's objects as the server has them now, except copies that users made.
   *
   * @param which of the kinds
   */
  List<HasMetadata> list(
      KubernetesClient client,
      Predicate<Class<? extends HasMetadata>> which,
      Owner owner,
      String fieldManager) {
    var result = new ArrayList<HasMetadata>();
    for (Class<? extends HasMetadata> kind : kinds) {
      if (which.test(kind)) {
        result.addAll(list(client, kind, owner));
      }
    }
    result.removeIf(object -> OwnershipLabels.isCopy(object, fieldManager));
    return result;
  }

  private <R extends HasMetadata> List<R> list(
      KubernetesClient client, Class<R> kind, Owner owner) {
    var all = client.resources(kind);
    return isLimited(kind)
        ? namespaces.stream()
            .flatMap(
                namespace ->
                    all
                        .inNamespace(namespace)
                        .withLabel(ownership.uidLabel(), owner.uid())
                        .list()
                        .getItems()
                        .stream())
            .toList()
        : all.inAnyNamespace().withLabel(ownership.uidLabel(), owner.uid()).list().getItems();
  }

  /** Whether the operator has permissions for this kind in some namespaces only. */
  private boolean isLimited(Class<? extends HasMetadata> kind) {
    return Namespaced.class.isAssignableFrom(kind) && !namespaces.isEmpty();
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
    return new OwnedSource<>(
        (isLimited(kind) ? builder.withNamespaces(namespaces) : builder.withWatchAllNamespaces())
            .build(),
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
