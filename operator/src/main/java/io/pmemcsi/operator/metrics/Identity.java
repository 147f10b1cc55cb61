package io.pmemcsi.operator.metrics;

import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * Which resource, of whatever kind.
 *
 * @param namespace empty for a resource of the whole cluster
 * @param uid tells it from an earlier one of the same name
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
