package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import io.pmemcsi.operator.apply.ApiCluster;
import io.pmemcsi.operator.apply.OwnedKinds;
import io.pmemcsi.operator.apply.Owner;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** Reads from the informers of the running operator. */
record CachedReader<R extends HasMetadata>(Context<R> context, OwnedKinds kinds)
    implements ClusterReader<R> {

  @Override
  public <T extends HasMetadata> List<T> owned(Class<T> type) {
    return context.getSecondaryResourcesAsStream(type).toList();
  }

  @Override
  public boolean ownsObjects() {
    return !cluster().ownedBy(Owner.of(context.getPrimaryResource())).isEmpty();
  }

  /** From the server where the informer has none: it may lag, or not cover the object. */
  @Override
  @SuppressWarnings("unchecked")
  public <T extends HasMetadata> Optional<T> find(T example) {
    return cluster().find(example).map(found -> (T) found);
  }

  @Override
  @SuppressWarnings("unchecked")
  public <T extends HasMetadata> Optional<T> watched(T example, String source) {
    return source((Class<T>) example.getClass(), source).get(ResourceID.fromResource(example));
  }

  @Override
  @SuppressWarnings("unchecked")
  public <T extends HasMetadata> List<T> watched(Class<T> type, String source, Predicate<T> which) {
    return context.eventSourceRetriever().getEventSourcesFor(type).stream()
        .filter(found -> found.name().equals(source))
        .flatMap(found -> ((InformerEventSource<T, R>) found).list(which))
        .toList();
  }

  @Override
  public List<R> peers(String index, Collection<String> keys) {
    Map<String, R> found = new HashMap<>();
    for (String key : keys) {
      for (R peer : context.getPrimaryCache().byIndex(index, key)) {
        found.put(peer.getMetadata().getUid(), peer);
      }
    }
    found.remove(context.getPrimaryResource().getMetadata().getUid());
    return List.copyOf(found.values());
  }

  @Override
  public KubernetesClient client() {
    return context.getClient();
  }

  ApiCluster<R> cluster() {
    return new ApiCluster<>(context, kinds);
  }

  @SuppressWarnings("unchecked")
  private <T extends HasMetadata> InformerEventSource<T, R> source(Class<T> type, String name) {
    return (InformerEventSource<T, R>) context.eventSourceRetriever().getEventSourceFor(type, name);
  }
}
