package io.pmemcsi.api.template;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.WrongType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The rules for pod templates, which the server takes as they come. */
final class PodTemplateChecks {

  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  private PodTemplateChecks() {}

  static List<Violation> check(CSIDriverDeploymentSpec spec) {
    List<Violation> found = new ArrayList<>();
    readable("spec.driverPerNodeTemplate", spec.driverPerNodeTemplate()).ifPresent(found::add);
    readable("spec.driverControllerTemplate", spec.driverControllerTemplate())
        .ifPresent(found::add);
    privileged(spec.driverPerNodeTemplate()).ifPresent(found::add);
    return found;
  }

  private static Optional<Violation> readable(String field, @Nullable JsonNode template) {
    try {
      if (template != null) {
        JSON.convertValue(template, PodTemplateSpec.class);
      }
      return Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.of(WrongType.in(field, e));
    }
  }

  /** The kubelet's directory is mounted so that mounts spread, for which the server asks this. */
  private static Optional<Violation> privileged(@Nullable JsonNode template) {
    if (template == null) {
      return Optional.empty();
    }
    JsonNode containers = template.path("spec").path("containers");
    if (!containers.isArray()
        || containers.isEmpty()
        || containers.path(0).path("securityContext").path("privileged").asBoolean()) {
      return Optional.empty();
    }
    return Optional.of(
        new Violation(
            "spec.driverPerNodeTemplate.spec.containers[0].securityContext.privileged",
            "",
            "is not true: the driver cannot mount volumes for pods without it"));
  }
}
