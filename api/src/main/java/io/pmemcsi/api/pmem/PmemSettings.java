package io.pmemcsi.api.pmem;

import io.fabric8.kubernetes.api.model.IntOrString;
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
 * The settings of a driver that follow from a checked {@link PmemCSIDeployment}: every default is
 * filled in here and nowhere else, except for the images, which depend on the operator and on the
 * version of the server.
 *
 * @param driver the name of the CSI driver
 * @param spec what the user wrote, free of violations
 */
public record PmemSettings(DriverName driver, PmemCSIDeploymentSpec spec) {

  private static final int DEFAULT_LOG_LEVEL = 3;
  private static final int DEFAULT_PERCENTAGE = 100;
  private static final String DEFAULT_KUBELET_DIR = "/var/lib/kubelet";
  private static final Map<String, String> DEFAULT_NODE_SELECTOR = Map.of("storage", "pmem");

  /**
   * The settings of a resource.
   *
   * @throws IllegalArgumentException if its name cannot be that of a driver
   */
  public static PmemSettings of(PmemCSIDeployment resource) {
    return new PmemSettings(new DriverName(resource.getMetadata().getName()), resource.getSpec());
  }

  public Optional<String> image() {
    return Written.text(spec.image());
  }

  public Optional<String> provisionerImage() {
    return Written.text(spec.provisionerImage());
  }

  public Optional<String> nodeRegistrarImage() {
    return Written.text(spec.nodeRegistrarImage()).or(() -> Written.text(spec.registrarImage()));
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

  /** Where the certificates of the controller come from. */
  public TLSMaterial tls() {
    Optional<String> secret = Written.text(spec.controllerTLSSecret());
    if (secret.isPresent()) {
      return new TLSMaterial.NamedSecret(secret.get());
    }
    ControllerTLS options = spec.controllerTLS();
    if (options != null && options.wanted()) {
      return new TLSMaterial.Managed(options);
    }
    if (spec.caCert() != null && spec.registryCert() != null && spec.registryKey() != null) {
      return new TLSMaterial.Inline(spec.caCert(), spec.registryCert(), spec.registryKey());
    }
    return new TLSMaterial.None();
  }

  /** Whether the controller with its extender and webhook is wanted. */
  public boolean hasController() {
    return !(tls() instanceof TLSMaterial.None);
  }

  public MutatePods mutatePods() {
    return Choice.orDefault(spec.mutatePods(), MutatePods.TRY);
  }

  /** The fixed node port of the scheduler extender, if there shall be one. */
  public Optional<Integer> schedulerNodePort() {
    return Written.number(spec.schedulerNodePort());
  }

  public int controllerReplicas() {
    return Written.number(spec.controllerReplicas())
        .or(() -> Written.number(spec.controllReplicas()))
        .orElse(1);
  }

  public IntOrString maxUnavailable() {
    IntOrString value = spec.maxUnavailable();
    return value == null ? new IntOrString(1) : value;
  }

  public ResourceRequirements controllerDriverResources() {
    return resources(spec.controllerDriverResources(), spec.controllerResources(), "12m", "128Mi");
  }

  public ResourceRequirements nodeDriverResources() {
    return resources(spec.nodeDriverResources(), spec.nodeResources(), "100m", "250Mi");
  }

  public ResourceRequirements provisionerResources() {
    return resources(spec.provisionerResources(), spec.nodeResources(), "12m", "128Mi");
  }

  public ResourceRequirements nodeRegistrarResources() {
    return resources(spec.nodeRegistrarResources(), spec.nodeResources(), "12m", "128Mi");
  }

  public DeletionPolicy deletionPolicy() {
    return Choice.orDefault(spec.deletionPolicy(), DeletionPolicy.WHEN_UNUSED);
  }

  private static ResourceRequirements resources(
      @Nullable ResourceRequirements ofContainer,
      @Nullable ResourceRequirements ofPod,
      String cpu,
      String memory) {
    if (ofContainer != null) {
      return ofContainer;
    }
    if (ofPod != null) {
      return ofPod;
    }
    return new ResourceRequirementsBuilder()
        .addToRequests("cpu", new Quantity(cpu))
        .addToRequests("memory", new Quantity(memory))
        .build();
  }
}
