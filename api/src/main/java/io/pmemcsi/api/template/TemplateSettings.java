package io.pmemcsi.api.template;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.Choice;
import io.pmemcsi.api.StorageClassTemplate;
import io.pmemcsi.api.Written;
import io.pmemcsi.base.names.DriverName;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a driver that follow from a checked {@link CSIDriverDeployment}: every default is
 * filled in here, except for what the operator's own configuration decides.
 *
 * @param driver the name of the CSI driver
 * @param spec what the user wrote, free of violations
 */
public record TemplateSettings(DriverName driver, CSIDriverDeploymentSpec spec) {

  private static final KubernetesSerialization JSON = new KubernetesSerialization();
  private static final int DEFAULT_PROBE_TIMEOUT_SECONDS = 30;
  private static final int DEFAULT_LOG_LEVEL = 5;

  /**
   * The settings of a resource.
   *
   * @throws IllegalArgumentException if it names no driver
   */
  public static TemplateSettings of(CSIDriverDeployment resource) {
    CSIDriverDeploymentSpec spec = resource.getSpec();
    return new TemplateSettings(new DriverName(Written.text(spec.driverName()).orElse("")), spec);
  }

  /** A fresh copy of the template for the nodes, with every field that the user wrote. */
  public PodTemplateSpec nodeTemplate() {
    return template(spec.driverPerNodeTemplate()).orElseGet(PodTemplateSpec::new);
  }

  /** A fresh copy of the template for the controller, if there is one. */
  public Optional<PodTemplateSpec> controllerTemplate() {
    return template(spec.driverControllerTemplate());
  }

  public String driverSocket() {
    return Written.text(spec.driverSocket()).orElse("");
  }

  /** How often to probe, if at all. */
  public Optional<Integer> probePeriodSeconds() {
    return Optional.ofNullable(spec.probePeriodSeconds());
  }

  public int probeTimeoutSeconds() {
    return Optional.ofNullable(spec.probeTimeoutSeconds()).orElse(DEFAULT_PROBE_TIMEOUT_SECONDS);
  }

  public List<StorageClassTemplate> storageClassTemplates() {
    return Optional.ofNullable(spec.storageClassTemplates()).orElse(List.of());
  }

  public NodeUpdateStrategy nodeUpdateStrategy() {
    return Choice.orDefault(spec.nodeUpdateStrategy(), NodeUpdateStrategy.ROLLING);
  }

  public ContainerImages containerImages() {
    return Optional.ofNullable(spec.containerImages()).orElse(ContainerImages.NONE);
  }

  public IntOrString maxUnavailable() {
    return Optional.ofNullable(spec.maxUnavailable()).orElseGet(() -> new IntOrString(1));
  }

  public Sidecars sidecars() {
    return Optional.ofNullable(spec.sidecars()).orElse(Sidecars.DEFAULT);
  }

  public boolean hasProvisioner() {
    return enabled(sidecars().provisioner(), true);
  }

  public boolean hasAttacher() {
    return enabled(sidecars().attacher(), true);
  }

  public boolean hasResizer() {
    return enabled(sidecars().resizer(), false);
  }

  public boolean hasSnapshotter() {
    return enabled(sidecars().snapshotter(), false);
  }

  public CSIDriverOptions csiDriver() {
    return Optional.ofNullable(spec.csiDriver()).orElse(CSIDriverOptions.DEFAULT);
  }

  /** The desired number of controller pods, if the user set one. */
  public Optional<Integer> replicas() {
    return Optional.ofNullable(spec.replicas());
  }

  public int logLevel() {
    return Optional.ofNullable(spec.logLevel()).orElse(DEFAULT_LOG_LEVEL);
  }

  private static boolean enabled(@Nullable OptionalSidecar sidecar, boolean byDefault) {
    Boolean written = sidecar == null ? null : sidecar.enabled();
    return written == null ? byDefault : written;
  }

  private static Optional<PodTemplateSpec> template(@Nullable JsonNode written) {
    return Optional.ofNullable(written)
        .filter(node -> !node.isNull())
        .map(node -> JSON.convertValue(node, PodTemplateSpec.class));
  }
}
