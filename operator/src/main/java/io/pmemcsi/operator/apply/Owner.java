package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;

/**
 * The resource that owns objects.
 *
 * @param namespace empty for a cluster-scoped resource
 * @param uid distinguishes the resource from an earlier one with the same name
 */
public record Owner(String apiVersion, String kind, String namespace, String name, String uid) {

  public Owner {
    if (uid.isEmpty()) {
      throw new IllegalArgumentException(
          "%s \"%s\" has no uid: only a resource that the API server has stored can own objects"
              .formatted(kind, name));
    }
  }

  public static Owner of(HasMetadata resource) {
    var metadata = resource.getMetadata();
    return new Owner(
        resource.getApiVersion(),
        resource.getKind(),
        metadata.getNamespace() == null ? "" : metadata.getNamespace(),
        metadata.getName(),
        metadata.getUid() == null ? "" : metadata.getUid());
  }

  /**
   * Whether Kubernetes allows an owner reference: the owner is either cluster-scoped or in the
   * namespace of the object.
   */
  boolean mayOwn(HasMetadata object) {
    return namespace.isEmpty() || namespace.equals(object.getMetadata().getNamespace());
  }

  OwnerReference reference() {
    return new OwnerReferenceBuilder()
        .withApiVersion(apiVersion)
        .withKind(kind)
        .withName(name)
        .withUid(uid)
        .withController(true)
        .withBlockOwnerDeletion(true)
        .build();
  }
}
