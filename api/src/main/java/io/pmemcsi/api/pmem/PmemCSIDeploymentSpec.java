package io.pmemcsi.api.pmem;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.pmemcsi.api.DeletionPolicy;
import io.pmemcsi.api.DeviceMode;
import io.pmemcsi.api.LogFormat;
import io.pmemcsi.api.ManagementState;
import io.pmemcsi.api.MutatePods;
import io.pmemcsi.api.NodeSidecars;
import io.pmemcsi.api.PodOptions;
import io.pmemcsi.api.PullPolicy;
import io.pmemcsi.api.PullSecret;
import io.pmemcsi.api.SharedRules;
import io.pmemcsi.api.SharedSpec;
import io.pmemcsi.api.SnapshotClassChecks;
import io.pmemcsi.api.SnapshotClassTemplate;
import io.pmemcsi.api.StorageClassChecks;
import io.pmemcsi.api.StorageClassTemplate;
import io.pmemcsi.api.Written;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A PMEM-CSI driver as its administrator describes it, field by field as written: what is missing
 * is null, and a choice is the text that stands there, so that an object which an older CRD let
 * through can still be read and reported. {@link PmemSettings} is the checked form.
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(value = SharedRules.PULL_POLICY_CEL, message = SharedRules.PULL_POLICY)
@ValidationRule(value = SharedRules.REGISTRAR_IMAGE_CEL, message = SharedRules.REGISTRAR_IMAGE)
@ValidationRule(value = SharedRules.KUBELET_DIR_CEL, message = SharedRules.KUBELET_DIR)
@ValidationRule(value = SharedRules.NODE_SELECTOR_CEL, message = SharedRules.NODE_SELECTOR)
@ValidationRule(value = SharedRules.LABELS_CEL, message = SharedRules.LABELS)
@ValidationRule(
    value = StorageClassChecks.ONE_DEFAULT_CEL,
    message = StorageClassChecks.ONE_DEFAULT)
@ValidationRule(
    value = StorageClassChecks.UNIQUE_CLASSES_CEL,
    message = StorageClassChecks.UNIQUE_CLASSES)
@ValidationRule(
    value = SnapshotClassChecks.ONE_DEFAULT_CEL,
    message = SnapshotClassChecks.ONE_DEFAULT)
@ValidationRule(
    value = SnapshotClassChecks.UNIQUE_CLASSES_CEL,
    message = SnapshotClassChecks.UNIQUE_CLASSES)
@ValidationRule(
    value = PmemCSIDeploymentChecks.REPLICAS_CEL,
    message = PmemCSIDeploymentChecks.REPLICAS)
@ValidationRule(
    value = PmemCSIDeploymentChecks.ONE_TLS_CEL,
    message = PmemCSIDeploymentChecks.ONE_TLS)
@ValidationRule(
    value = PmemCSIDeploymentChecks.INLINE_CEL,
    message = PmemCSIDeploymentChecks.INLINE)
@ValidationRule(
    value = PmemCSIDeploymentChecks.NODE_PAIR_CEL,
    message = PmemCSIDeploymentChecks.NODE_PAIR)
public record PmemCSIDeploymentSpec(
    @SchemaFrom(type = ManagementState.class)
        @JsonPropertyDescription(
            "Managed lets the operator create, repair and remove the driver's objects; Unmanaged"
                + " makes it leave them alone, also when this resource is deleted. Default:"
                + " Managed.")
        @Nullable String managementState,
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
    @Size(max = 16)
        @JsonPropertyDescription(
            "Secrets with which the images of all pods are pulled, in the namespace of the"
                + " operator. Default: none.")
        @Nullable List<PullSecret> imagePullSecrets,
    @Pattern("^\\S*$")
        @JsonPropertyDescription(
            "Image of the external provisioner. Default: chosen by the version of the Kubernetes"
                + " server.")
        @Nullable String provisionerImage,
    @Pattern("^\\S*$")
        @JsonPropertyDescription(
            "Image of the external resizer. Default: chosen by the version of the Kubernetes"
                + " server.")
        @Nullable String resizerImage,
    @Pattern("^\\S*$")
        @JsonPropertyDescription(
            "Image of the external snapshotter, which runs where the cluster has the snapshot API."
                + " Default: chosen by the version of the Kubernetes server.")
        @Nullable String snapshotterImage,
    @Pattern("^\\S*$")
        @JsonPropertyDescription(
            "Image of the node driver registrar. Default: chosen by the version of the Kubernetes"
                + " server.")
        @Nullable String nodeRegistrarImage,
    @Pattern("^\\S*$")
        @JsonPropertyDescription(
            "Another name for nodeRegistrarImage. If both are set, they must be equal. Default: the"
                + " value of nodeRegistrarImage.")
        @Nullable String registrarImage,
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
    @Min(0)
        @Max(100)
        @JsonPropertyDescription(
            "Share of each region (lvm), or of the file system that holds /var/lib (file), in"
                + " percent. In lvm it can be raised later, not lowered. Ignored in direct. 0 means"
                + " the default. Default: 100.")
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
    @Size(max = 253)
        @Pattern("^$|^-openshift-$|^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
        @JsonPropertyDescription(
            "Name of a secret in the operator's namespace with ca.crt, tls.crt and tls.key for the"
                + " scheduler extender and the pod webhook. The value -openshift- lets OpenShift"
                + " issue it. The controller runs if, and only if,"
                + " TLS material is named: by this field, by the inline certificate fields or by"
                + " controllerTLS. Default: none.")
        @Nullable String controllerTLSSecret,
    @JsonPropertyDescription(
            "Lets the operator issue and renew the certificates of the controller. An alternative"
                + " to controllerTLSSecret and to the inline certificate fields. Default: none.")
        @Nullable ControllerTLS controllerTLS,
    @JsonPropertyDescription(
            "Certificate of the authority that signed registryCert and nodeControllerCert, as"
                + " base64-encoded PEM. Goes together with registryCert and registryKey. Default:"
                + " none.")
        @Nullable String caCert,
    @JsonPropertyDescription(
            "Certificate of the controller's server, as base64-encoded PEM. Default: none.")
        @Nullable String registryCert,
    @JsonPropertyDescription("Private key of registryCert, as base64-encoded PEM. Default: none.")
        @Nullable String registryKey,
    @JsonPropertyDescription(
            "Certificate of the drivers on the nodes, as base64-encoded PEM. Goes together with"
                + " nodeControllerKey. Default: none.")
        @Nullable String nodeControllerCert,
    @JsonPropertyDescription(
            "Private key of nodeControllerCert, as base64-encoded PEM. Default: none.")
        @Nullable String nodeControllerKey,
    @SchemaFrom(type = MutatePods.class)
        @JsonPropertyDescription(
            "How the pod webhook of the controller is set up: Always lets no pod be created while"
                + " the webhook fails, Try lets it pass unchanged, Never installs no webhook."
                + " Unused without a controller. Default: Try.")
        @Nullable String mutatePods,
    @Min(0)
        @Max(65535)
        @JsonPropertyDescription(
            "If not 0, the scheduler extender is offered on this port of every node; the number"
                + " must lie in the cluster's range for node ports. 0 makes it a cluster-internal"
                + " service. Default: 0.")
        @Nullable Integer schedulerNodePort,
    @Min(0)
        @Max(1000)
        @JsonPropertyDescription("How many controller pods run. 0 means the default. Default: 1.")
        @Nullable Integer controllerReplicas,
    @Min(0)
        @Max(1000)
        @JsonPropertyDescription(
            "Another name for controllerReplicas, kept for resources written for earlier releases."
                + " If both are set, they must be equal. Default: the value of controllerReplicas.")
        @Nullable Integer controllReplicas,
    @JsonPropertyDescription(
            "On how many nodes at a time the driver may be restarted during an update: a number of"
                + " at least 1, or a share such as 10%. Default: 1.")
        @Nullable IntOrString maxUnavailable,
    @JsonPropertyDescription(
            "Compute resources of the driver container in the controller pod. Default: requests of"
                + " 12m CPU and 128Mi memory.")
        @Nullable ResourceRequirements controllerDriverResources,
    @JsonPropertyDescription(
            "Compute resources of the driver container on each node. Default: requests of 100m CPU"
                + " and 250Mi memory.")
        @Nullable ResourceRequirements nodeDriverResources,
    @JsonPropertyDescription(
            "Compute resources of the external provisioner, resizer and"
                + " snapshotter. Default:"
                + " requests of 12m CPU and 128Mi memory.")
        @Nullable ResourceRequirements provisionerResources,
    @JsonPropertyDescription(
            "Compute resources of the node driver registrar. Default: requests of 12m CPU and 128Mi"
                + " memory.")
        @Nullable ResourceRequirements nodeRegistrarResources,
    @JsonPropertyDescription(
            "Deprecated: compute resources of every container in the controller pod that has none"
                + " of its own. Use controllerDriverResources. Default: none, each container then"
                + " has its own default.")
        @Nullable ResourceRequirements controllerResources,
    @JsonPropertyDescription(
            "Deprecated: compute resources of every container on the nodes that has none of its"
                + " own. Use nodeDriverResources, provisionerResources and nodeRegistrarResources."
                + " Default: none, each container then has its own default.")
        @Nullable ResourceRequirements nodeResources,
    @JsonPropertyDescription(
            "How the pods on the nodes are scheduled and annotated. Default: the defaults of its"
                + " fields.")
        @Nullable PodOptions nodePods,
    @JsonPropertyDescription(
            "How the pods of the controller are scheduled and annotated. Default: the defaults of"
                + " its fields.")
        @Nullable PodOptions controllerPods,
    @JsonPropertyDescription(
            "Whether the driver removes the taint NAME/agent-not-ready (NAME is that of the driver,"
                + " value and effect do not matter) from its node once kubelet has registered it"
                + " there: nodes that are created with this taint get no other pods before. The"
                + " pods on the nodes tolerate it whatever nodePods says. Default: false.")
        @Nullable Boolean startupTaint,
    @JsonPropertyDescription(
            "Whether NetworkPolicies let only the documented ports of the driver's pods be reached."
                + " Default: true.")
        @Nullable Boolean networkPolicies,
    @JsonPropertyDescription(
            "Arguments and compute resources of the sidecars. Default: the defaults of its fields.")
        @Nullable NodeSidecars sidecars,
    @Size(max = 64)
        @JsonPropertyDescription("Storage classes that come and go with the driver. Default: none.")
        @Nullable List<StorageClassTemplate> storageClassTemplates,
    @Size(max = 64)
        @JsonPropertyDescription(
            "Snapshot classes that come and go with the driver, where the cluster has the snapshot"
                + " API. Where it has not, the condition SnapshotClassesMissing says so. Default:"
                + " none.")
        @Nullable List<SnapshotClassTemplate> snapshotClassTemplates,
    @SchemaFrom(type = DeletionPolicy.class)
        @JsonPropertyDescription(
            "What deleting this resource does while volumes of the driver exist: WhenUnused keeps"
                + " the driver until they are deleted (the annotation"
                + " pmem-csi.intel.com/force-deletion=true overrides that), Immediate removes it at"
                + " once. Default: WhenUnused.")
        @Nullable String deletionPolicy,
    @JsonPropertyDescription(
            "What happens to volumes on nodes that were deleted. Default: nothing, they are listed"
                + " in the status.")
        @Nullable LostNodesPolicy lostNodes)
    implements SharedSpec {

  /** A spec in which nothing is set. */
  public static final PmemCSIDeploymentSpec EMPTY =
      new PmemCSIDeploymentSpec(
          null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
          null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
          null, null, null, null, null, null, null, null, null, null, null, null, null, null);

  public PmemCSIDeploymentSpec {
    nodeSelector = Written.copy(nodeSelector);
    labels = Written.copy(labels);
    imagePullSecrets = imagePullSecrets == null ? null : List.copyOf(imagePullSecrets);
    storageClassTemplates =
        storageClassTemplates == null ? null : List.copyOf(storageClassTemplates);
    snapshotClassTemplates =
        snapshotClassTemplates == null ? null : List.copyOf(snapshotClassTemplates);
  }
}
