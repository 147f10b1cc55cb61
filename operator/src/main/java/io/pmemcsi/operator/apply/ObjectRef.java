package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * Identifies an object to users.
 *
 * @param apiVersion for example {@code apps/v1}
 * @param namespace empty for a cluster-scoped object
 */
public record ObjectRef(String apiVersion, String kind, String namespace, String name) {

  public static ObjectRef of(HasMetadata object) {
    String namespace = object.getMetadata().getNamespace();
    return new ObjectRef(
        object.getApiVersion(),
        object.getKind(),
        namespace == null ? "" : namespace,
        object.getMetadata().getName());
  }

  /** Whether both name the same object, in any version of its API. */
  public boolean isSameObjectAs(ObjectRef other) {
    return kind.equals(other.kind)
        && group().equals(other.group())
        && namespace.equals(other.namespace)
        && name.equals(other.name);
  }

  private String group() {
    int slash = apiVersion.indexOf('/');
    return slash < 0 ? "" : apiVersion.substring(0, slash);
  }

  @Override
  public String toString() {
    return namespace.isEmpty()
        ? "%s \"%s\"".formatted(kind, name)
        : "%s \"%s\" in namespace \"%s\"".formatted(kind, name, namespace);
  }
}
