package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Images of the sidecars that the operator adds. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value = ContainerImagesChecks.NOT_EMPTY_CEL,
    message = ContainerImagesChecks.NOT_EMPTY)
public record ContainerImages(
    @Pattern("^\\S+$")
        @JsonPropertyDescription("Image of the external attacher." + ContainerImages.BY_DEFAULT)
        @Nullable String attacherImage,
    @Pattern("^\\S+$")
        @JsonPropertyDescription("Image of the external provisioner." + ContainerImages.BY_DEFAULT)
        @Nullable String provisionerImage,
    @Pattern("^\\S+$")
        @JsonPropertyDescription("Image of the node driver registrar." + ContainerImages.BY_DEFAULT)
        @Nullable String driverRegistrarImage,
    @Pattern("^\\S+$")
        @JsonPropertyDescription("Image of the liveness probe." + ContainerImages.BY_DEFAULT)
        @Nullable String livenessProbeImage,
    @Pattern("^\\S+$")
        @JsonPropertyDescription("Image of the external resizer." + ContainerImages.BY_DEFAULT)
        @Nullable String resizerImage,
    @Pattern("^\\S+$")
        @JsonPropertyDescription("Image of the snapshotter." + ContainerImages.BY_DEFAULT)
        @Nullable String snapshotterImage) {

  private static final String BY_DEFAULT =
      " Default: that of the operator's configuration, else chosen by the version of the Kubernetes"
          + " server.";

  /** No overrides. */
  public static final ContainerImages NONE =
      new ContainerImages(null, null, null, null, null, null);
}
