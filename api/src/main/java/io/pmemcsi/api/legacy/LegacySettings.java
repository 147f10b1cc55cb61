package io.pmemcsi.api.legacy;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.pmemcsi.api.SharedSettings;
import io.pmemcsi.api.Written;
import io.pmemcsi.base.names.DriverName;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a driver that follow from a checked {@link LegacyDeployment}: every default is
 * filled in here or in {@link SharedSettings}, except for the images, which depend on the operator
 * and on the version of the server.
 *
 * @param name the name of the resource, after which its objects are named
 * @param driver the name of the CSI driver
 * @param spec what the user wrote, free of violations
 */
public record LegacySettings(String name, DriverName driver, LegacyDeploymentSpec spec)
    implements SharedSettings {

  /**
   * The settings of a resource.
   *
   * @throws IllegalArgumentException if its name cannot be that of a driver
   */
  public static LegacySettings of(LegacyDeployment resource) {
    LegacyDeploymentSpec spec = resource.getSpec();
    String name = resource.getMetadata().getName();
    return new LegacySettings(
        name, new DriverName(Written.text(spec.driverName()).orElse(name)), spec);
  }

  public ResourceRequirements controllerResources() {
    return resources(spec.controllerResources());
  }

  public ResourceRequirements nodeResources() {
    return resources(spec.nodeResources());
  }

  /** The user's certificates where all of them are given, else those of the operator. */
  public Certificates certificates() {
    if (spec.caCert() != null
        && spec.registryCert() != null
        && spec.registryKey() != null
        && spec.nodeControllerCert() != null
        && spec.nodeControllerKey() != null) {
      return new Certificates.Given(
          spec.caCert(),
          spec.registryCert(),
          spec.registryKey(),
          spec.nodeControllerCert(),
          spec.nodeControllerKey());
    }
    return new Certificates.Issued(
        Certificates.KeySource.of(Written.text(spec.registryKey())),
        Certificates.KeySource.of(Written.text(spec.nodeControllerKey())));
  }

  private static ResourceRequirements resources(@Nullable ResourceRequirements written) {
    if (written != null) {
      return written;
    }
    // no limit of CPU: it would stretch the start of a JVM to minutes
    return new ResourceRequirementsBuilder()
        .addToRequests("cpu", new Quantity("100m"))
        .addToLimits("memory", new Quantity("250Mi"))
        .build();
  }
}
