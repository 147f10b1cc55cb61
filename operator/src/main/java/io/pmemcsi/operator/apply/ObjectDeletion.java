package io.pmemcsi.operator.apply;

import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.api.model.DeleteOptions;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Deletes objects on the API server, or releases them from their owner.
 *
 * @param ownership the labels that an object must have kept since it was read
 */
record ObjectDeletion(KubernetesClient client, OwnershipLabels ownership) {

  private static final int ATTEMPTS = 5;
  private static final int POLLS = 40;
  private static final long POLL_MILLIS = 50;

  /**
   * Deletes the version that was read, because a user may have removed the ownership labels since.
   * If only other fields changed, such as the status of a workload, the deletion is tried again.
   */
  boolean delete(HasMetadata actual, DeletionPropagation propagation) {
    HasMetadata current = actual;
    for (int attempt = 1; ; attempt++) {
      try {
        client.raw(ApiPath.of(current), "DELETE", options(current, propagation));
        return awaitDeletion(actual);
      } catch (KubernetesClientException e) {
        if (e.getCode() == HTTP_NOT_FOUND) {
          return awaitDeletion(actual);
        }
        if (e.getCode() != HTTP_CONFLICT || attempt == ATTEMPTS) {
          throw e;
        }
        current = read(actual).filter(now -> hasSameOwner(actual, now)).orElseThrow(() -> e);
      }
    }
  }

  private static DeleteOptions options(HasMetadata current, DeletionPropagation propagation) {
    return new DeleteOptionsBuilder()
        .withPropagationPolicy(propagation.toString())
        .withNewPreconditions()
        .withUid(current.getMetadata().getUid())
        .withResourceVersion(current.getMetadata().getResourceVersion())
        .endPreconditions()
        .build();
  }

  private boolean hasSameOwner(HasMetadata one, HasMetadata other) {
    return one.getMetadata().getUid().equals(other.getMetadata().getUid())
        && ownership.ownerUid(one).equals(ownership.ownerUid(other))
        && one.getMetadata().getOwnerReferences().equals(other.getMetadata().getOwnerReferences());
  }

  private boolean awaitDeletion(HasMetadata object) {
    for (int i = 0; i < POLLS; i++) {
      Optional<HasMetadata> current = read(object);
      if (current.isEmpty()
          || !current.get().getMetadata().getUid().equals(object.getMetadata().getUid())) {
        return true;
      }
      if (current.get().getMetadata().getFinalizers() != null
          && !current.get().getMetadata().getFinalizers().isEmpty()) {
        return false;
      }
      try {
        Thread.sleep(POLL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return false;
  }

  /** By a patch with uid and version: a change since the object was read is a conflict. */
  void release(HasMetadata actual, Owner owner) {
    List<OwnerReference> references = actual.getMetadata().getOwnerReferences();
    List<OwnerReference> others =
        references.stream().filter(reference -> !reference.getUid().equals(owner.uid())).toList();
    if (others.size() == references.size()) {
      return;
    }
    var patch =
        Map.of(
            "metadata",
            Map.of(
                "uid", actual.getMetadata().getUid(),
                "resourceVersion", actual.getMetadata().getResourceVersion(),
                "ownerReferences", others));
    try {
      client
          .resource(actual)
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              client.getKubernetesSerialization().asJson(patch));
    } catch (KubernetesClientException e) {
      if (e.getCode() != HTTP_NOT_FOUND) {
        throw e;
      }
    }
  }

  private Optional<HasMetadata> read(HasMetadata object) {
    return Optional.ofNullable(client.resource(object).get());
  }
}
