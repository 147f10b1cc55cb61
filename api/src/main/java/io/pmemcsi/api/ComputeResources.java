package io.pmemcsi.api;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks the compute resources of containers: those in fields of a spec, and those of its sidecars.
 */
public final class ComputeResources {

  private ComputeResources() {}

  /** What is wrong with the compute resources in a resource of one of our kinds. */
  public static List<Violation> check(JsonNode resource) {
    List<Violation> found = new ArrayList<>();
    JsonNode spec = resource.path("spec");
    spec.properties().stream()
        .filter(field -> field.getKey().endsWith("Resources"))
        .forEach(field -> found.addAll(check("spec." + field.getKey(), field.getValue())));
    spec.path("sidecars")
        .properties()
        .forEach(
            sidecar ->
                found.addAll(
                    check(
                        "spec.sidecars.%s.resources".formatted(sidecar.getKey()),
                        sidecar.getValue().path("resources"))));
    return found;
  }

  private static List<Violation> check(String field, JsonNode value) {
    return value.isMissingNode()
        ? List.of()
        : KubernetesFields.check(field, value, ResourceRequirements.class, "compute resources");
  }
}
