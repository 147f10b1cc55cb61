package io.pmemcsi.api.pmem;

import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.pmemcsi.api.NodeSidecars;
import io.pmemcsi.api.PodOptions;
import io.pmemcsi.api.PullSecret;
import io.pmemcsi.api.SharedSettings;
import io.pmemcsi.api.SnapshotClassTemplate;
import io.pmemcsi.api.StorageClassTemplate;
import io.pmemcsi.api.Written;
import io.pmemcsi.base.names.DriverName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a driver that follow from a checked {@link PmemCSIDeployment}: every default is
 * filled in here or in {@link SharedSettings}, except for the images, which depend on the operator
 * and on the version of the server.
 *
 * @param driver the name of the CSI driver
 * @param spec what the user wrote, free of violations
 */
public record PmemSettings(DriverName driver, PmemCSIDeploymentSpec spec)
    implements SharedSettings {

  /**
   * The settings of a resource.
   *
   * @throws IllegalArgumentException if its name cannot be that of a driver
   */
  public static PmemSettings of(PmemCSIDeployment resource) {
    return new PmemSettings(new DriverName(resource.getMetadata().getName()), resource.getSpec());
  }

  /** Where the certificates of the controller come from. */
  public TLSMaterial tls() {
    Optional<String> secret = Written.text(spec.controllerTLSSecret());
    if (secret.isPresent()) {
      return new TLSMaterial.NamedSecret(secret.get());
    }
    ControllerTLS options = spec.controllerTLS();
    if (options != null && options.operatorIssues()) {
      return new TLSMaterial.Managed(options);
    }
    if (spec.caCert() != null && spec.registryCert() != null && spec.registryKey() != null) {
      return new TLSMaterial.Inline(spec.caCert(), spec.registryCert(), spec.registryKey());
    }
    return new TLSMaterial.None();
  }

  /** Whether the resource has the controller with its extender and webhook. */
  public boolean hasController() {
    return !(tls() instanceof TLSMaterial.None);
  }

  public int controllerReplicas() {
    return Written.number(spec.controllerReplicas())
        .or(() -> Written.number(spec.controllReplicas()))
        .orElse(1);
  }

  /** How long after a node was deleted its volumes are released; empty for never. */
  public Optional<Duration> releaseLostNodesAfter() {
    return Optional.ofNullable(spec.lostNodes()).flatMap(LostNodesPolicy::period);
  }

  public IntOrString maxUnavailable() {
    IntOrString value = spec.maxUnavailable();
    return value == null ? new IntOrString(1) : value;
  }

  public ResourceRequirements controllerDriverResources() {
    return resources(spec.controllerDriverResources(), spec.controllerResources(), "12m", "128Mi");
  }

  @Override
  public List<PullSecret> imagePullSecrets() {
    return Optional.ofNullable(spec.imagePullSecrets()).orElse(List.of());
  }

  @Override
  public PodOptions nodePods() {
    return Optional.ofNullable(spec.nodePods()).orElse(PodOptions.DEFAULT);
  }

  @Override
  public PodOptions controllerPods() {
    return Optional.ofNullable(spec.controllerPods()).orElse(PodOptions.DEFAULT);
  }

  @Override
  public boolean networkPolicies() {
    return !Boolean.FALSE.equals(spec.networkPolicies());
  }

  @Override
  public NodeSidecars sidecars() {
    return Optional.ofNullable(spec.sidecars()).orElse(NodeSidecars.DEFAULT);
  }

  @Override
  public List<StorageClassTemplate> storageClassTemplates() {
    return Optional.ofNullable(spec.storageClassTemplates()).orElse(List.of());
  }

  @Override
  public List<SnapshotClassTemplate> snapshotClassTemplates() {
    return Optional.ofNullable(spec.snapshotClassTemplates()).orElse(List.of());
  }

  @Override
  public boolean startupTaint() {
    return Boolean.TRUE.equals(spec.startupTaint());
  }

  @Override
  public Optional<String> resizerImage() {
    return Written.text(spec.resizerImage());
  }

  @Override
  public Optional<String> snapshotterImage() {
    return Written.text(spec.snapshotterImage());
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
