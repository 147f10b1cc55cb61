package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.pmemcsi.operator.apply.ssa.FieldManager;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The cluster of a running controller: reads from its caches, writes to the API server, and puts
 * what it wrote into the caches.
 *
 * @param <P> the kind that owns the objects
 */
public final class ApiCluster<P extends HasMetadata> implements Cluster {

  private final Context<P> context;
  private final OwnedKinds kinds;
  private final FieldManager fieldManager;
  private final ObjectWriter writer;
  private final ObjectDeletion deletion;

  public ApiCluster(Context<P> context, OwnedKinds kinds) {
    KubernetesClient client = context.getClient();
    this.context = context;
    this.kinds = kinds;
    this.fieldManager =
        new FieldManager(
            context.getControllerConfiguration().fieldManager(),
            client.getKubernetesSerialization());
    this.writer = new ObjectWriter(client, fieldManager, kinds.ownership());
    this.deletion = new ObjectDeletion(client, kinds.ownership());
  }

  @Override
  public Optional<HasMetadata> find(HasMetadata desired) {
    return source(desired).flatMap(source -> cached(source, desired)).or(() -> read(desired));
  }

  private Optional<HasMetadata> cached(OwnedSource<HasMetadata, P> source, HasMetadata desired) {
    var id = ResourceID.fromResource(desired);
    Optional<HasMetadata> cached = source.get(id);
    if (cached.isEmpty() || !source.awaitsEvent(id)) {
      return cached;
    }
    Optional<HasMetadata> current = read(desired);
    String uid = cached.get().getMetadata().getUid();
    if (current.filter(object -> object.getMetadata().getUid().equals(uid)).isEmpty()) {
      source.evict(cached.get());
    }
    return current;
  }

  @Override
  public <T, R> List<R> sendAll(List<T> items, Function<T, R> request) {
    return Concurrently.map(items, request);
  }

  @Override
  public List<HasMetadata> ownedBy(Owner owner) {
    var result = new ArrayList<HasMetadata>();
    for (Class<? extends HasMetadata> kind : kinds.kinds()) {
      result.addAll(
          context
              .eventSourceRetriever()
              .getEventSourceFor(kind, OwnedKinds.sourceName(kind))
              .getSecondaryResources(context.getPrimaryResource()));
    }
    result.removeIf(object -> OwnershipLabels.isCopy(object, fieldManager.name()));
    return result;
  }

  @Override
  public List<HasMetadata> notGarbageCollected(Owner owner) {
    return owner.namespace().isEmpty()
        ? List.of()
        : list(owner, kind -> !Namespaced.class.isAssignableFrom(kind));
  }

  @Override
  public List<HasMetadata> garbageCollected(Owner owner) {
    return list(
        owner, kind -> owner.namespace().isEmpty() || Namespaced.class.isAssignableFrom(kind));
  }

  private List<HasMetadata> list(Owner owner, Predicate<Class<? extends HasMetadata>> which) {
    return kinds.list(context.getClient(), which, owner, fieldManager.name());
  }

  @Override
  public boolean matches(HasMetadata actual, HasMetadata desired) {
    return fieldManager.matches(actual, desired);
  }

  @Override
  public HasMetadata create(HasMetadata desired) {
    HasMetadata created = writer.create(desired);
    source(created)
        .ifPresent(
            source -> source.handleRecentResourceCreate(ResourceID.fromResource(created), created));
    return created;
  }

  /** Values that the server defaulted must not be owned: other managers may change them. */
  @Override
  public void claimFields(HasMetadata created, HasMetadata desired) {
    if (!matches(created, desired)) {
      cacheUpdate(created, writer.serverSideApply(created, desired));
    }
  }

  @Override
  public void apply(HasMetadata actual, HasMetadata desired) {
    cacheUpdate(actual, writer.apply(actual, desired));
  }

  @Override
  public void dryRun(HasMetadata desired) {
    writer.dryRun(desired);
  }

  @Override
  public boolean delete(HasMetadata actual, DeletionPropagation propagation) {
    return deletion.delete(actual, propagation);
  }

  @Override
  public void release(HasMetadata actual, Owner owner) {
    deletion.release(actual, owner);
  }

  private void cacheUpdate(HasMetadata before, HasMetadata now) {
    source(now)
        .ifPresent(
            source -> source.handleRecentResourceUpdate(ResourceID.fromResource(now), now, before));
  }

  private Optional<HasMetadata> read(HasMetadata object) {
    return Optional.ofNullable(context.getClient().resource(object).get());
  }

  @SuppressWarnings("unchecked")
  private Optional<OwnedSource<HasMetadata, P>> source(HasMetadata object) {
    Class<? extends HasMetadata> kind = object.getClass();
    if (!kinds.kinds().contains(kind)) {
      return Optional.empty();
    }
    return Optional.of(
        (OwnedSource<HasMetadata, P>)
            context
                .eventSourceRetriever()
                .getEventSourceFor((Class<HasMetadata>) kind, OwnedKinds.sourceName(kind)));
  }
}
