package io.pmemcsi.api.kinds;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.CustomResource;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.legacy.LegacyDeployment;
import io.pmemcsi.api.legacy.LegacyDeploymentChecks;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentChecks;
import io.pmemcsi.api.schema.CustomResourceDefinitions;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentChecks;
import java.util.List;
import java.util.function.Function;

/**
 * A kind of custom resource.
 *
 * @param checks all violations of a resource, of the schema and of what no schema can express
 */
public record ResourceKind<R extends CustomResource<?, ?>>(
    Class<R> type, Function<R, List<Violation>> checks) {

  /** In the order in which they are documented. */
  static final List<ResourceKind<?>> ALL =
      List.of(
          new ResourceKind<>(PmemCSIDeployment.class, PmemCSIDeploymentChecks::check),
          new ResourceKind<>(LegacyDeployment.class, LegacyDeploymentChecks::check),
          new ResourceKind<>(CSIDriverDeployment.class, CSIDriverDeploymentChecks::check));

  /** The types of all kinds, in the order in which they are documented. */
  public static List<Class<? extends CustomResource<?, ?>>> types() {
    return ALL.stream().<Class<? extends CustomResource<?, ?>>>map(ResourceKind::type).toList();
  }

  /** The CRDs of all kinds. */
  public static List<CustomResourceDefinition> definitions() {
    return types().stream().map(CustomResourceDefinitions::of).toList();
  }
}
