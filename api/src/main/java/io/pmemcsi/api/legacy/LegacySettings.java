package io.pmemcsi.api.legacy;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.pmemcsi.api.Choice;
import io.pmemcsi.api.DeletionPolicy;
import io.pmemcsi.api.DeviceMode;
import io.pmemcsi.api.LogFormat;
import io.pmemcsi.api.MutatePods;
import io.pmemcsi.api.PullPolicy;
import io.pmemcsi.api.Written;
import io.pmemcsi.base.names.DriverName;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a driver that follow from a checked {@link LegacyDeployment}: every default is
 * filled in here and nowhere else, except for the images, which depend on the operator and on the
 * version of the server.
 *
 * @param name the name of the resource, after which its objects are named
 * @param driver the name of the CSI driver
 * @param spec what the user wrote, free of violations
 */
public record LegacySettings(String name, DriverName driver, LegacyDeploymentSpec spec) {

  private static final int DEFAULT_LOG_LEVEL = 3;
  private static final int DEFAULT_PERCENTAGE = 100;
  private static final String DEFAULT_KUBELET_DIR = "/var/lib/kubelet";
  private static final Map<String, String> DEFAULT_NODE_SELECTOR = Map.of("storage", "pmem");

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

  public Optional<String> image() {
    return Written.text(spec.image());
  }

  public Optional<String> provisionerImage() {
    return Written.text(spec.provisionerImage());
  }

  public Optional<String> registrarImage() {
    return Written.text(spec.registrarImage()).or(() -> Written.text(spec.nodeRegistrarImage()));
  }

  public PullPolicy pullPolicy() {
    return Choice.orDefault(
        Written.text(spec.pullPolicy()).or(() -> Written.text(spec.imagePullPolicy())).orElse(null),
        PullPolicy.IF_NOT_PRESENT);
  }

  public DeviceMode deviceMode() {
    return Choice.orDefault(spec.deviceMode(), DeviceMode.LVM);
  }

  public int logLevel() {
    return Written.number(spec.logLevel()).orElse(DEFAULT_LOG_LEVEL);
  }

  public LogFormat logFormat() {
    return Choice.orDefault(spec.logFormat(), LogFormat.TEXT);
  }

  /** The labels that select nodes; an empty map that the user wrote selects all of them. */
  public Map<String, String> nodeSelector() {
    Map<String, String> selector = spec.nodeSelector();
    return selector == null ? DEFAULT_NODE_SELECTOR : selector;
  }

  public int pmemPercentage() {
    return Written.number(spec.pmemPercentage()).orElse(DEFAULT_PERCENTAGE);
  }

  public Map<String, String> labels() {
    Map<String, String> labels = spec.labels();
    return labels == null ? Map.of() : labels;
  }

  /** The kubelet's directory, without a slash at its end. */
  public String kubeletDir() {
    return Written.text(spec.kubeletDir()).orElse(DEFAULT_KUBELET_DIR).replaceFirst("/+$", "");
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

  /** The secret for the scheduler extender and the webhook, which run only where it is named. */
  public Optional<String> controllerTLSSecret() {
    return Written.text(spec.controllerTLSSecret());
  }

  public MutatePods mutatePods() {
    return Choice.orDefault(spec.mutatePods(), MutatePods.TRY);
  }

  /** The fixed node port of the scheduler extender, if there shall be one. */
  public Optional<Integer> schedulerNodePort() {
    return Written.number(spec.schedulerNodePort());
  }

  public DeletionPolicy deletionPolicy() {
    return Choice.orDefault(spec.deletionPolicy(), DeletionPolicy.WHEN_UNUSED);
  }

  private static ResourceRequirements resources(@Nullable ResourceRequirements written) {
    if (written != null) {
      return written;
    }
    return new ResourceRequirementsBuilder()
        .addToLimits("cpu", new Quantity("100m"))
        .addToLimits("memory", new Quantity("250Mi"))
        .build();
  }
}
