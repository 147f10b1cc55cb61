package io.pmemcsi.operator.apply;

import static java.net.HttpURLConnection.HTTP_CONFLICT;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.operator.apply.ssa.FieldManager;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Creates and applies objects on the API server. */
final class ObjectWriter {

  private final KubernetesClient client;
  private final FieldManager fieldManager;
  private final OwnershipLabels ownership;

  ObjectWriter(KubernetesClient client, FieldManager fieldManager, OwnershipLabels ownership) {
    this.client = client;
    this.fieldManager = fieldManager;
    this.ownership = ownership;
  }

  /**
   * Creates by POST, which fails where an object exists: an object that a user created a moment ago
   * stays as it is. The existing object may be our own, too: a request whose response was lost is
   * sent again, and one of a process that was killed may arrive late.
   */
  HasMetadata create(HasMetadata desired) {
    try {
      return client
          .getKubernetesSerialization()
          .unmarshal(
              client.raw(
                  ApiPath.ofCollection(desired) + "?fieldManager=" + fieldManager.name(),
                  "POST",
                  desired),
              desired.getClass());
    } catch (KubernetesClientException e) {
      if (e.getCode() == ServerRejection.UNPROCESSABLE) {
        throw new RefusedObjectException(desired, e);
      }
      if (e.getCode() != HTTP_CONFLICT) {
        throw e;
      }
      HasMetadata existing = read(desired).orElseThrow(() -> e);
      Optional<String> owner = ownership.ownerUid(existing);
      if (owner.isEmpty() || !owner.equals(ownership.ownerUid(desired))) {
        throw new NotOwnedException(ObjectRef.of(desired));
      }
      return existing;
    }
  }

  /** Applies the desired values, then removes foreign fields. */
  HasMetadata apply(HasMetadata actual, HasMetadata desired) {
    HasMetadata migrated =
        fieldManager
            .migratedFields(actual)
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
      HasMetadata applied = serverSideApply(migrated, desired);
      List<String> foreign = fieldManager.foreignFields(applied, desired);
      return foreign.isEmpty() ? applied : remove(foreign, applied);
    } catch (KubernetesClientException e) {
      throw new ServerRejection(client).classify(e, desired);
    }
  }

  /** Names the uid of the object that was read: another object with this name is a conflict. */
  HasMetadata serverSideApply(HasMetadata actual, HasMetadata desired) {
    desired.getMetadata().setUid(actual.getMetadata().getUid());
    try {
      return client
          .resource(desired)
          .fieldManager(fieldManager.name())
          .forceConflicts()
          .serverSideApply();
    } finally {
      desired.getMetadata().setUid(null);
    }
  }

  /** A field that its manager removed since makes the patch fail: a conflict, not a refusal. */
  private HasMetadata remove(List<String> pointers, HasMetadata applied) {
    try {
      return patch(
          applied,
          pointers.stream().map(pointer -> Map.of("op", "remove", "path", pointer)).toList());
    } catch (KubernetesClientException e) {
      String version = applied.getMetadata().getResourceVersion();
      if (e.getCode() != ServerRejection.UNPROCESSABLE
          || read(applied)
              .filter(now -> now.getMetadata().getResourceVersion().equals(version))
              .isPresent()) {
        throw e;
      }
      var conflict =
          new KubernetesClientException(
              ObjectRef.of(applied) + " was changed at the same time",
              HTTP_CONFLICT,
              e.getStatus());
      conflict.addSuppressed(e);
      throw conflict;
    }
  }

  /** Fails with a conflict if the object changed since it was read. */
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
    return client
        .resource(actual)
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.JSON)
                .withFieldManager(fieldManager.name())
                .build(),
            client.getKubernetesSerialization().asJson(operations));
  }

  /** An object with a changed immutable field is accepted, because it will be recreated. */
  void dryRun(HasMetadata desired) {
    try {
      DryRun.apply(desired, fieldManager.name(), client);
    } catch (KubernetesClientException e) {
      RuntimeException rejection = new ServerRejection(client).classify(e, desired);
      if (!(rejection instanceof ImmutableFieldException)) {
        throw rejection;
      }
    }
  }

  private Optional<HasMetadata> read(HasMetadata object) {
    return Optional.ofNullable(client.resource(object).get());
  }
}
