package io.pmemcsi.operator.apply;

import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;

/**
 * The cluster through the API server: the caches of the running controller for reading, server-side
 * apply for writing.
 *
 * @param <P> the kind that owns the objects
 */
public final class ApiCluster<P extends HasMetadata> implements Cluster {

  private static final int UNPROCESSABLE = 422;
  private static final int DELETIONS = 5;
  private static final int WAITS_FOR_DELETION = 40;
  private static final long WAIT_MILLIS = 50;

  private final Context<P> context;
  private final OwnedKinds kinds;
  private final String fieldManager;

  public ApiCluster(Context<P> context, OwnedKinds kinds) {
    this.context = context;
    this.kinds = kinds;
    this.fieldManager = context.getControllerConfiguration().fieldManager();
  }

  @Override
  public Optional<HasMetadata> find(HasMetadata wanted) {
    return source(wanted).flatMap(source -> cached(source, wanted)).or(() -> read(wanted));
  }

  private Optional<HasMetadata> cached(OwnedSource<HasMetadata, P> source, HasMetadata wanted) {
    var id = ResourceID.fromResource(wanted);
    Optional<HasMetadata> cached = source.get(id);
    if (cached.isEmpty() || !source.awaits(id)) {
      return cached;
    }
    Optional<HasMetadata> now = read(wanted);
    String uid = cached.get().getMetadata().getUid();
    if (now.filter(object -> object.getMetadata().getUid().equals(uid)).isEmpty()) {
      source.lost(cached.get());
    }
    return now;
  }

  /** At once, because most of them are not in the cache when a resource is new. */
  @Override
  public List<Optional<HasMetadata>> findAll(List<HasMetadata> wanted) {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Optional<HasMetadata>>> found =
          wanted.stream().map(object -> threads.submit(() -> find(object))).toList();
      return found.stream().map(ApiCluster::get).toList();
    }
  }

  private static Optional<HasMetadata> get(Future<Optional<HasMetadata>> found) {
    try {
      return found.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while objects were looked for", e);
    }
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
    result.removeIf(object -> OwnershipLabels.isCopy(object, fieldManager));
    return result;
  }

  @Override
  public List<HasMetadata> uncollected(Owner owner) {
    return owner.namespace().isEmpty()
        ? List.of()
        : listed(owner, kind -> !Namespaced.class.isAssignableFrom(kind));
  }

  @Override
  public List<HasMetadata> collected(Owner owner) {
    return listed(
        owner, kind -> owner.namespace().isEmpty() || Namespaced.class.isAssignableFrom(kind));
  }

  private List<HasMetadata> listed(Owner owner, Predicate<Class<?>> which) {
    var result = new ArrayList<HasMetadata>();
    for (Class<? extends HasMetadata> kind : kinds.kinds()) {
      if (which.test(kind)) {
        result.addAll(
            client()
                .resources(kind)
                .inAnyNamespace()
                .withLabel(kinds.marks().uidLabel(), owner.uid())
                .list()
                .getItems());
      }
    }
    result.removeIf(object -> OwnershipLabels.isCopy(object, fieldManager));
    return result;
  }

  @Override
  public boolean matches(HasMetadata actual, HasMetadata wanted) {
    return new OwnedFields(fieldManager, client().getKubernetesSerialization())
            .match(actual, wanted)
        && surplus(actual, wanted).isEmpty();
  }

  /**
   * By a POST, which fails where an object is: whatever somebody else made in this very moment
   * stays as it is. What is there may be our own, too: a write whose answer was lost is sent again,
   * and one of a process that has just died may arrive late.
   */
  @Override
  public HasMetadata create(HasMetadata wanted) {
    HasMetadata created;
    try {
      created =
          client()
              .getKubernetesSerialization()
              .unmarshal(client().raw(path(wanted), "POST", wanted), wanted.getClass());
    } catch (KubernetesClientException e) {
      if (e.getCode() == UNPROCESSABLE) {
        throw new RefusedObjectException(wanted, e);
      }
      if (e.getCode() != HTTP_CONFLICT) {
        throw e;
      }
      HasMetadata other = read(wanted).orElseThrow(() -> e);
      if (!sameOwner(other, wanted)) {
        throw new NotOwnedException(ObjectRef.of(wanted));
      }
      return other;
    }
    source(created)
        .ifPresent(
            source -> source.handleRecentResourceCreate(ResourceID.fromResource(created), created));
    return created;
  }

  private String path(HasMetadata object) {
    String version = object.getApiVersion();
    String namespace = object.getMetadata().getNamespace();
    return (version.contains("/") ? "/apis/" : "/api/")
        + version
        + (namespace == null ? "" : "/namespaces/" + namespace)
        + "/"
        + object.getPlural()
        + "?fieldManager="
        + fieldManager;
  }

  /** Where the server filled in values, they must not count as ours: others may change them. */
  @Override
  public void takeOver(HasMetadata created, HasMetadata wanted) {
    if (!matches(created, wanted)) {
      written(created, applied(created, wanted));
    }
  }

  /** With the uid of the object that was looked at: another one of the same name is a conflict. */
  @Override
  public void apply(HasMetadata actual, HasMetadata wanted) {
    HasMetadata ours =
        new FieldOwnershipMigration(fieldManager)
            .of(actual)
            .map(
                fields ->
                    patch(
                        actual,
                        List.of(
                            Map.of(
                                "op",
                                "replace",
                                "path",
                                "/metadata/managedFields",
                                "value",
                                fields))))
            .orElse(actual);
    try {
      HasMetadata applied = applied(ours, wanted);
      List<String> surplus = surplus(applied, wanted);
      written(actual, surplus.isEmpty() ? applied : without(surplus, applied));
    } catch (KubernetesClientException e) {
      if (ImmutableFieldException.isCauseOf(e)) {
        throw new ImmutableFieldException(ObjectRef.of(wanted), e);
      }
      throw e.getCode() == UNPROCESSABLE ? new RefusedObjectException(wanted, e) : e;
    }
  }

  /**
   * What somebody took back himself meanwhile cannot be removed: that is a conflict, no refusal.
   */
  private HasMetadata without(List<String> surplus, HasMetadata applied) {
    try {
      return patch(
          applied,
          surplus.stream().map(pointer -> Map.of("op", "remove", "path", pointer)).toList());
    } catch (KubernetesClientException e) {
      String version = applied.getMetadata().getResourceVersion();
      if (e.getCode() != UNPROCESSABLE
          || read(applied)
              .filter(now -> now.getMetadata().getResourceVersion().equals(version))
              .isPresent()) {
        throw e;
      }
      var conflict =
          new KubernetesClientException(
              ObjectRef.of(applied) + " was changed meanwhile", HTTP_CONFLICT, e.getStatus());
      conflict.addSuppressed(e);
      throw conflict;
    }
  }

  private HasMetadata applied(HasMetadata actual, HasMetadata wanted) {
    wanted.getMetadata().setUid(actual.getMetadata().getUid());
    try {
      return client()
          .resource(wanted)
          .fieldManager(fieldManager)
          .forceConflicts()
          .serverSideApply();
    } finally {
      wanted.getMetadata().setUid(null);
    }
  }

  /** Only if nobody changed the object since. */
  private HasMetadata patch(HasMetadata actual, List<? extends Map<String, ?>> changes) {
    var operations = new ArrayList<Map<String, ?>>(changes);
    operations.add(
        Map.of(
            "op",
            "replace",
            "path",
            "/metadata/resourceVersion",
            "value",
            actual.getMetadata().getResourceVersion()));
    return client()
        .resource(actual)
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.JSON)
                .withFieldManager(fieldManager)
                .build(),
            client().getKubernetesSerialization().asJson(operations));
  }

  private List<String> surplus(HasMetadata actual, HasMetadata wanted) {
    return ForeignFields.of(actual, wanted, client().getKubernetesSerialization());
  }

  private void written(HasMetadata before, HasMetadata now) {
    source(now)
        .ifPresent(
            source -> source.handleRecentResourceUpdate(ResourceID.fromResource(now), now, before));
  }

  @Override
  public void rehearse(HasMetadata wanted) {
    try {
      DryRun.apply(wanted, fieldManager, client());
    } catch (KubernetesClientException e) {
      // what cannot be changed is made anew, and nobody can tell beforehand how that goes
      if (!ImmutableFieldException.isCauseOf(e)) {
        throw e.getCode() == UNPROCESSABLE ? new RefusedObjectException(wanted, e) : e;
      }
    }
  }

  /**
   * Only as it was looked at: somebody may have taken the marks off. But the status of a workload
   * changes all the time while its pods come and go, which changes nothing for us.
   */
  @Override
  public boolean delete(HasMetadata actual) {
    HasMetadata looked = actual;
    for (int attempt = 1; ; attempt++) {
      try {
        client()
            .resource(looked)
            .lockResourceVersion(looked.getMetadata().getResourceVersion())
            .delete();
        return gone(actual);
      } catch (KubernetesClientException e) {
        if (e.getCode() == HTTP_NOT_FOUND) {
          return gone(actual);
        }
        if (e.getCode() != HTTP_CONFLICT || attempt == DELETIONS) {
          throw e;
        }
        looked = read(actual).filter(now -> isMarkedAs(actual, now)).orElseThrow(() -> e);
      }
    }
  }

  private boolean isMarkedAs(HasMetadata one, HasMetadata other) {
    return one.getMetadata().getUid().equals(other.getMetadata().getUid())
        && ownerLabel(one).equals(ownerLabel(other))
        && one.getMetadata().getOwnerReferences().equals(other.getMetadata().getOwnerReferences());
  }

  /** By a patch that names uid and version: what somebody changed meanwhile is looked at again. */
  @Override
  public void release(HasMetadata actual, Owner owner) {
    List<OwnerReference> references = actual.getMetadata().getOwnerReferences();
    if (references.stream().noneMatch(reference -> reference.getUid().equals(owner.uid()))) {
      return;
    }
    var kept =
        references.stream().filter(reference -> !reference.getUid().equals(owner.uid())).toList();
    var patch =
        Map.of(
            "metadata",
            Map.of(
                "uid", actual.getMetadata().getUid(),
                "resourceVersion", actual.getMetadata().getResourceVersion(),
                "ownerReferences", kept));
    try {
      client()
          .resource(actual)
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              client().getKubernetesSerialization().asJson(patch));
    } catch (KubernetesClientException e) {
      if (e.getCode() != HTTP_NOT_FOUND) {
        throw e;
      }
    }
  }

  private boolean gone(HasMetadata object) {
    for (int i = 0; i < WAITS_FOR_DELETION; i++) {
      Optional<HasMetadata> now = read(object);
      if (now.isEmpty()
          || !now.get().getMetadata().getUid().equals(object.getMetadata().getUid())) {
        return true;
      }
      if (now.get().getMetadata().getFinalizers() != null
          && !now.get().getMetadata().getFinalizers().isEmpty()) {
        return false;
      }
      try {
        Thread.sleep(WAIT_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return false;
  }

  private Optional<HasMetadata> read(HasMetadata object) {
    return Optional.ofNullable(client().resource(object).get());
  }

  private boolean sameOwner(HasMetadata one, HasMetadata other) {
    Optional<String> uid = ownerLabel(one);
    return uid.isPresent() && uid.equals(ownerLabel(other));
  }

  private Optional<String> ownerLabel(HasMetadata object) {
    return Optional.ofNullable(object.getMetadata().getLabels())
        .map(labels -> labels.get(kinds.marks().uidLabel()));
  }

  private KubernetesClient client() {
    return context.getClient();
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
