package io.pmemcsi.api.legacy;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.pmemcsi.api.DeletionPolicy;
import io.pmemcsi.api.DeviceMode;
import io.pmemcsi.api.LogFormat;
import io.pmemcsi.api.PullPolicy;
import io.pmemcsi.api.SharedRules;
import io.pmemcsi.api.SharedSpec;
import io.pmemcsi.api.Written;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A PMEM-CSI driver with a central controller, field by field as its administrator wrote it. {@link
 * LegacySettings} is the checked form.
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(value = SharedRules.PULL_POLICY_CEL, message = SharedRules.PULL_POLICY)
@ValidationRule(value = SharedRules.REGISTRAR_IMAGE_CEL, message = SharedRules.REGISTRAR_IMAGE)
@ValidationRule(value = SharedRules.KUBELET_DIR_CEL, message = SharedRules.KUBELET_DIR)
@ValidationRule(value = SharedRules.NODE_SELECTOR_CEL, message = SharedRules.NODE_SELECTOR)
@ValidationRule(value = SharedRules.LABELS_CEL, message = SharedRules.LABELS)
@ValidationRule(
    value = LegacyDeploymentChecks.AUTHORITY_CEL,
    message = LegacyDeploymentChecks.AUTHORITY)
@ValidationRule(
    value = LegacyDeploymentChecks.ALL_CERTIFICATES_CEL,
    message = LegacyDeploymentChecks.ALL_CERTIFICATES)
public record LegacyDeploymentSpec(
    @Size(max = 63)
        @Pattern("^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
        @JsonPropertyDescription("Name of the CSI driver. Default: the name of this resource.")
        @Nullable String driverName,
    @Pattern("^\\S*$")
        @JsonPropertyDescription(
            "Image of the driver. Default: the image in which the operator itself runs.")
        @Nullable String image,
    @SchemaFrom(type = PullPolicy.class)
        @JsonPropertyDescription("When the driver's images are pulled. Default: IfNotPresent.")
        @Nullable String pullPolicy,
    @SchemaFrom(type = PullPolicy.class)
        @JsonPropertyDescription(
            "Another name for pullPolicy. If both are set, they must be equal. Default: the value"
                + " of pullPolicy.")
        @Nullable String imagePullPolicy,
    @Pattern("^\\S*$")
        @JsonPropertyDescription(
            "Image of the external provisioner. Default: chosen by the version of the Kubernetes"
                + " server.")
        @Nullable String provisionerImage,
    @Pattern("^\\S*$")
        @JsonPropertyDescription(
            "Image of the node driver registrar. Default: chosen by the version of the Kubernetes"
                + " server.")
        @Nullable String registrarImage,
    @Pattern("^\\S*$")
        @JsonPropertyDescription(
            "Another name for registrarImage. If both are set, they must be equal. Default: the"
                + " value of registrarImage.")
        @Nullable String nodeRegistrarImage,
    @SchemaFrom(type = DeviceMode.class)
        @JsonPropertyDescription(
            "How persistent memory is divided into volumes: lvm makes logical volumes, direct makes"
                + " one namespace per volume. file is for trials on nodes without persistent"
                + " memory: it makes sparse files on the node's disk, without DAX. Must not be"
                + " changed while volumes exist. Default: lvm.")
        @Nullable String deviceMode,
    @Min(0)
        @Max(65535)
        @JsonPropertyDescription(
            "How much the driver logs: 3 is what an administrator wants to know, 5 is everything. 0"
                + " means the default. Default: 3.")
        @Nullable Integer logLevel,
    @SchemaFrom(type = LogFormat.class)
        @JsonPropertyDescription("Form of the log: text or json. Default: text.")
        @Nullable String logFormat,
    @JsonPropertyDescription(
            "Labels of the nodes on which the driver runs. An empty map selects every node."
                + " Default: storage=pmem.")
        @Nullable Map<String, String> nodeSelector,
    @Min(1)
        @Max(100)
        @JsonPropertyDescription(
            "Share of each region (lvm), or of the file system that holds /var/lib (file), in"
                + " percent. In lvm it can be raised later, not lowered. Ignored in direct."
                + " Default: 100.")
        @Nullable Integer pmemPercentage,
    @JsonPropertyDescription(
            "Labels that are added to every object created for this driver. A label that is removed"
                + " here stays on existing objects. Default: none.")
        @Nullable Map<String, String> labels,
    @Size(max = SharedRules.MAX_PATH)
        @Pattern(SharedRules.DIRECTORY_PATTERN)
        @JsonPropertyDescription(
            "Root directory of the kubelet on the nodes, an absolute path. Default:"
                + " /var/lib/kubelet.")
        @Nullable String kubeletDir,
    @JsonPropertyDescription(
            "Compute resources of every container in the controller pod. Default: a request of 100m"
                + " CPU and a limit of 250Mi memory.")
        @Nullable ResourceRequirements controllerResources,
    @JsonPropertyDescription(
            "Compute resources of every container in the pods on the nodes. Default: a request of"
                + " 100m CPU and a limit of 250Mi memory.")
        @Nullable ResourceRequirements nodeResources,
    @JsonPropertyDescription(
            "Certificate of the authority that signed registryCert and nodeControllerCert, as"
                + " base64-encoded PEM. Goes together with both certificates and both keys."
                + " Default: an authority that the operator creates.")
        @Nullable String caCert,
    @JsonPropertyDescription(
            "Certificate of the registry in the controller, as base64-encoded PEM. Default: issued"
                + " by the operator.")
        @Nullable String registryCert,
    @JsonPropertyDescription(
            "Private key of registryCert, as base64-encoded PEM. Given alone, the operator issues a"
                + " certificate for it. Default: generated by the operator.")
        @Nullable String registryKey,
    @JsonPropertyDescription(
            "Certificate of the drivers on the nodes, as base64-encoded PEM. Default: issued by the"
                + " operator.")
        @Nullable String nodeControllerCert,
    @JsonPropertyDescription(
            "Private key of nodeControllerCert, as base64-encoded PEM. Given alone, the operator"
                + " issues a certificate for it. Default: generated by the operator.")
        @Nullable String nodeControllerKey,
    @SchemaFrom(type = DeletionPolicy.class)
        @JsonPropertyDescription(
            "What deleting this resource does while volumes of the driver exist: WhenUnused keeps"
                + " the driver until they are deleted (the annotation"
                + " pmem-csi.intel.com/force-deletion=true overrides that), Immediate removes it at"
                + " once. Default: WhenUnused.")
        @Nullable String deletionPolicy)
    implements SharedSpec {

  /** A spec in which nothing is set. */
  public static final LegacyDeploymentSpec EMPTY =
      new LegacyDeploymentSpec(
          null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
          null, null, null, null, null, null, null);

  public LegacyDeploymentSpec {
    nodeSelector = Written.copy(nodeSelector);
    labels = Written.copy(labels);
  }
}
