package io.pmemcsi.operator.metrics;

import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * Identifies a resource of any kind.
 *
 * @param namespace empty for a cluster-scoped resource
 * @param uid distinguishes it from an earlier one with the same name
 */
record Identity(String kind, String namespace, String name, String uid) {

  static Identity of(HasMetadata resource) {
    String namespace = resource.getMetadata().getNamespace();
    return new Identity(
        resource.getKind(),
        namespace == null ? "" : namespace,
        resource.getMetadata().getName(),
        String.valueOf(resource.getMetadata().getUid()));
  }
}
