package io.pmemcsi.api;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.legacy.LegacyDeployment;
import io.pmemcsi.api.legacy.LegacyDeploymentChecks;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentChecks;
import io.pmemcsi.api.schema.CustomResourceDefinitions;
import io.pmemcsi.api.schema.StructuralSchema;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentChecks;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Checks resources that come from a file, so that no API server has seen them. */
public final class ResourceChecks {

  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  private ResourceChecks() {}

  /** The class for the apiVersion and kind of a resource, if it is one of this project. */
  public static Optional<Class<? extends CustomResource<?, ?>>> kind(JsonNode resource) {
    return CustomResourceDefinitions.kinds().stream()
        .filter(kind -> HasMetadata.getKind(kind).equals(resource.path("kind").asText()))
        .filter(
            kind -> HasMetadata.getApiVersion(kind).equals(resource.path("apiVersion").asText()))
        .findFirst();
  }

  /**
   * Everything that is wrong with a resource of one of our kinds, unknown fields included.
   *
   * @throws IllegalArgumentException if it is of another kind
   */
  public static List<Violation> check(JsonNode resource) {
    Class<? extends CustomResource<?, ?>> kind =
        kind(resource)
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "%s %s is not one of our kinds"
                            .formatted(
                                resource.path("apiVersion").asText(),
                                resource.path("kind").asText())));
    StructuralSchema schema = StructuralSchema.of(kind);
    List<Violation> found =
        Stream.concat(schema.unknownFields(resource).stream(), schema.violations(resource).stream())
            .toList();
    CustomResource<?, ?> read;
    try {
      read = JSON.convertValue(resource, kind);
    } catch (IllegalArgumentException e) {
      // the schema says it better, but leaves the types of Kubernetes itself to the server
      return found.isEmpty() ? List.of(WrongType.in("", e)) : found;
    }
    return Stream.concat(found.stream(), check(read).stream()).distinct().toList();
  }

  /** What no schema can express. */
  private static List<Violation> check(CustomResource<?, ?> resource) {
    return switch (resource) {
      case PmemCSIDeployment pmem -> PmemCSIDeploymentChecks.check(pmem);
      case LegacyDeployment legacy -> LegacyDeploymentChecks.check(legacy);
      case CSIDriverDeployment template -> CSIDriverDeploymentChecks.check(template);
      default -> throw new IllegalStateException("no checks for " + resource.getKind());
    };
  }
}
