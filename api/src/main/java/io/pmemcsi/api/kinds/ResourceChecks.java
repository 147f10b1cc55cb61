package io.pmemcsi.api.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.WrongType;
import io.pmemcsi.api.schema.StructuralSchema;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Checks resources that come from a file, so that no API server has seen them. */
public final class ResourceChecks {

  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  private ResourceChecks() {}

  /** The class for the apiVersion and kind of a resource, if it is one of this project. */
  public static Optional<Class<? extends CustomResource<?, ?>>> kind(JsonNode resource) {
    return find(resource).map(ResourceKind::type);
  }

  private static Optional<ResourceKind<?>> find(JsonNode resource) {
    return ResourceKind.ALL.stream()
        .filter(kind -> HasMetadata.getKind(kind.type()).equals(resource.path("kind").asText()))
        .filter(
            kind ->
                HasMetadata.getApiVersion(kind.type()).equals(resource.path("apiVersion").asText()))
        .findFirst();
  }

  /**
   * Everything that is wrong with a resource of one of our kinds, unknown fields included.
   *
   * @throws IllegalArgumentException if it is of another kind
   */
  public static List<Violation> check(JsonNode resource) {
    return check(
        resource,
        find(resource)
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "%s %s is not one of our kinds"
                            .formatted(
                                resource.path("apiVersion").asText(),
                                resource.path("kind").asText()))));
  }

  private static <R extends CustomResource<?, ?>> List<Violation> check(
      JsonNode resource, ResourceKind<R> kind) {
    StructuralSchema schema = StructuralSchema.of(kind.type());
    List<Violation> found =
        Stream.concat(schema.unknownFields(resource).stream(), schema.violations(resource).stream())
            .toList();
    R read;
    try {
      read = JSON.convertValue(resource, kind.type());
    } catch (IllegalArgumentException e) {
      // the schema says it better, but leaves the types of Kubernetes itself to the server
      return found.isEmpty() ? List.of(WrongType.in("", e)) : found;
    }
    return Stream.concat(found.stream(), kind.checks().apply(read).stream()).distinct().toList();
  }
}
