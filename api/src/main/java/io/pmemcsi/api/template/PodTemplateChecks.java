package io.pmemcsi.api.template;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.pmemcsi.api.KubernetesFields;
import io.pmemcsi.api.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The rules for pod templates, which the server takes as they come. */
final class PodTemplateChecks {

  private PodTemplateChecks() {}

  static List<Violation> check(CSIDriverDeploymentSpec spec) {
    List<Violation> found = new ArrayList<>();
    found.addAll(fields("spec.driverPerNodeTemplate", spec.driverPerNodeTemplate()));
    found.addAll(fields("spec.driverControllerTemplate", spec.driverControllerTemplate()));
    privileged(spec.driverPerNodeTemplate()).ifPresent(found::add);
    return found;
  }

  private static List<Violation> fields(String field, @Nullable JsonNode template) {
    return KubernetesFields.check(field, template, PodTemplateSpec.class, "a pod template");
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
