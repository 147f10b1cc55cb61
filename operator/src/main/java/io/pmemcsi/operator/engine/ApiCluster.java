package io.pmemcsi.operator.engine;

import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The cluster through the API server: the caches of the running controller for reading, server-side
 * apply for writing.
 *
 * @param <P> the kind that owns the objects
 */
public final class ApiCluster<P extends HasMetadata> implements Cluster {

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
    Optional<HasMetadata> cached =
        source(wanted).flatMap(source -> source.get(ResourceID.fromResource(wanted)));
    return cached.isPresent() ? cached : read(wanted);
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
    result.removeIf(object -> Marks.isCopy(object, fieldManager));
    return result;
  }

  @Override
  public boolean matches(HasMetadata actual, HasMetadata wanted) {
    return new OwnedFields(fieldManager, client().getKubernetesSerialization())
        .match(actual, wanted);
  }

  /**
   * Without force, so that an object which somebody else created in this very moment is not
   * overwritten; if it merely took our values on top of its own, they are taken off again. It may
   * also be our own one: a write whose answer was lost is sent again, and one of a process that has
   * just died may arrive late. A controller that has touched it meanwhile does not make it foreign.
   */
  @Override
  public void create(HasMetadata wanted) {
    HasMetadata created;
    try {
      created = client().resource(wanted).fieldManager(fieldManager).serverSideApply();
    } catch (KubernetesClientException e) {
      if (e.getCode() == HTTP_CONFLICT
          && read(wanted).filter(other -> !sameOwner(other, wanted)).isPresent()) {
        throw new ForeignObjectException(ObjectRef.of(wanted));
      }
      throw e;
    }
    boolean onlyOurs =
        created.getMetadata().getManagedFields().stream()
            .allMatch(entry -> fieldManager.equals(entry.getManager()));
    if (!onlyOurs && before(created).filter(other -> !sameOwner(other, wanted)).isPresent()) {
      withdraw(created);
      throw new ForeignObjectException(ObjectRef.of(wanted));
    }
    source(created)
        .ifPresent(
            source -> source.handleRecentResourceCreate(ResourceID.fromResource(created), created));
  }

  /** With the uid of the object that was looked at: another one of the same name is a conflict. */
  @Override
  public void apply(HasMetadata actual, HasMetadata wanted) {
    wanted.getMetadata().setUid(actual.getMetadata().getUid());
    try {
      HasMetadata applied =
          client().resource(wanted).fieldManager(fieldManager).forceConflicts().serverSideApply();
      source(applied)
          .ifPresent(
              source ->
                  source.handleRecentResourceUpdate(
                      ResourceID.fromResource(applied), applied, actual));
    } catch (KubernetesClientException e) {
      if (ImmutableFieldException.isCauseOf(e)) {
        throw new ImmutableFieldException(ObjectRef.of(wanted), e);
      }
      throw e;
    } finally {
      wanted.getMetadata().setUid(null);
    }
  }

  @Override
  public boolean delete(HasMetadata actual) {
    try {
      client()
          .resource(actual)
          .lockResourceVersion(actual.getMetadata().getResourceVersion())
          .delete();
    } catch (KubernetesClientException e) {
      if (e.getCode() != HTTP_NOT_FOUND) {
        throw e;
      }
    }
    return gone(actual);
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

  /** Applying nothing gives back every field that we took, and changes no other. */
  private void withdraw(HasMetadata object) {
    var nothing = new GenericKubernetesResource();
    nothing.setApiVersion(object.getApiVersion());
    nothing.setKind(object.getKind());
    nothing.setMetadata(
        new ObjectMetaBuilder()
            .withName(object.getMetadata().getName())
            .withNamespace(object.getMetadata().getNamespace())
            .withUid(object.getMetadata().getUid())
            .build());
    client().resource(nothing).fieldManager(fieldManager).serverSideApply();
  }

  private Optional<HasMetadata> read(HasMetadata object) {
    return Optional.ofNullable(client().resource(object).get());
  }

  /**
   * The object before its last change, from the server's history. Its present state cannot tell who
   * made it: it shows our marks in any case, and times are counted in whole seconds.
   */
  @SuppressWarnings("unchecked")
  private Optional<HasMetadata> before(HasMetadata object) {
    long version = Long.parseLong(object.getMetadata().getResourceVersion());
    var options =
        new ListOptionsBuilder()
            .withFieldSelector("metadata.name=" + object.getMetadata().getName())
            .withResourceVersion(Long.toString(version - 1))
            .withResourceVersionMatch("Exact")
            .build();
    var kind = client().resources((Class<HasMetadata>) object.getClass());
    String namespace = object.getMetadata().getNamespace();
    var found = namespace == null ? kind.list(options) : kind.inNamespace(namespace).list(options);
    return found.getItems().stream().findFirst();
  }

  private boolean sameOwner(HasMetadata one, HasMetadata other) {
    String label = kinds.marks().uidLabel();
    return one.getMetadata().getLabels() != null
        && Objects.equals(
            one.getMetadata().getLabels().get(label), other.getMetadata().getLabels().get(label));
  }

  private KubernetesClient client() {
    return context.getClient();
  }

  @SuppressWarnings("unchecked")
  private Optional<InformerEventSource<HasMetadata, P>> source(HasMetadata object) {
    Class<? extends HasMetadata> kind = object.getClass();
    if (!kinds.kinds().contains(kind)) {
      return Optional.empty();
    }
    return Optional.of(
        (InformerEventSource<HasMetadata, P>)
            context
                .eventSourceRetriever()
                .getEventSourceFor((Class<HasMetadata>) kind, OwnedKinds.sourceName(kind)));
  }
}
