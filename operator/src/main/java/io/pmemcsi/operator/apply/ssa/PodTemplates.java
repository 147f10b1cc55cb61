package io.pmemcsi.operator.apply.ssa;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.Optional;

/** The pod templates of workloads. */
public final class PodTemplates {

  private PodTemplates() {}

  public static Optional<PodTemplateSpec> of(HasMetadata object) {
    return switch (object) {
      case Deployment workload when workload.getSpec() != null ->
          Optional.ofNullable(workload.getSpec().getTemplate());
      case DaemonSet workload when workload.getSpec() != null ->
          Optional.ofNullable(workload.getSpec().getTemplate());
      case StatefulSet workload when workload.getSpec() != null ->
          Optional.ofNullable(workload.getSpec().getTemplate());
      default -> Optional.empty();
    };
  }
}
