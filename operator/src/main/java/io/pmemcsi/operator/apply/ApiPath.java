package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;

/** Paths of objects on the API server. */
final class ApiPath {

  private ApiPath() {}

  /** To which an object of this kind and namespace is posted. */
  static String ofCollection(HasMetadata object) {
    String version = object.getApiVersion();
    String namespace = object.getMetadata().getNamespace();
    return (version.contains("/") ? "/apis/" : "/api/")
        + version
        + (namespace == null ? "" : "/namespaces/" + namespace)
        + "/"
        + object.getPlural();
  }

  static String of(HasMetadata object) {
    return ofCollection(object) + "/" + object.getMetadata().getName();
  }
}
