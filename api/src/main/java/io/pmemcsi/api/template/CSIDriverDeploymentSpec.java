package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.pmemcsi.api.DeletionPolicy;
import io.pmemcsi.api.ManagementState;
import io.pmemcsi.api.StorageClassChecks;
import io.pmemcsi.api.StorageClassTemplate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A CSI driver as its administrator describes it, field by field as written. The pod templates are
 * kept as they are in the JSON: the server does not look into them, so a template that is not one
 * must not stop the others from being read, and no field of a newer Kubernetes may get lost. {@link
 * TemplateSettings} is the checked form.
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
    value = StorageClassChecks.ONE_DEFAULT_CEL,
    message = StorageClassChecks.ONE_DEFAULT)
@ValidationRule(
    value = StorageClassChecks.UNIQUE_CLASSES_CEL,
    message = StorageClassChecks.UNIQUE_CLASSES)
@ValidationRule(
    value = CSIDriverDeploymentChecks.SOCKET_CEL,
    message = CSIDriverDeploymentChecks.SOCKET)
@ValidationRule(
    value = CSIDriverDeploymentChecks.SOCKET_PATH_CEL,
    message = CSIDriverDeploymentChecks.SOCKET_PATH)
@ValidationRule(
    value = CSIDriverDeploymentChecks.CONTROLLER_SIDECARS_CEL,
    message = CSIDriverDeploymentChecks.CONTROLLER_SIDECARS)
@ValidationRule(
    value = CSIDriverDeploymentChecks.ATTACHER_CEL,
    message = CSIDriverDeploymentChecks.ATTACHER)
@ValidationRule(
    value = CSIDriverDeploymentChecks.TOKENS_CEL,
    message = CSIDriverDeploymentChecks.TOKENS)
public record CSIDriverDeploymentSpec(
    @SchemaFrom(type = ManagementState.class)
        @JsonPropertyDescription(
            "Managed lets the operator create, repair and remove the driver's objects; Unmanaged"
                + " makes it leave them alone. Default: Managed.")
        @Nullable String managementState,
    @Required
        @Size(max = 63)
        @Pattern("^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
        @JsonPropertyDescription(
            "Name of the CSI driver, the one that it answers to GetPluginInfo: at most 63 lower"
                + " case letters, digits, dashes and dots.")
        @Nullable String driverName,
    @JsonPropertyDescription(
            "Pod template of the driver on every node. The first container is the driver and makes"
                + " the socket. Node selector, affinity and tolerations limit the nodes."
                + " Default: none, and without it nothing is deployed.")
        @Nullable JsonNode driverPerNodeTemplate,
    @JsonPropertyDescription(
            "Pod template of the driver's controller; the first container is the driver and makes"
                + " the socket. Default: none, for a driver that needs neither provisioner nor"
                + " attacher.")
        @Nullable JsonNode driverControllerTemplate,
    @Size(max = 107)
        @Pattern(CSIDriverDeploymentChecks.SOCKET_PATTERN)
        @JsonPropertyDescription(
            "Absolute path of the socket inside the first container of both templates, in a"
                + " directory of its own, for example /run/csi/csi.sock. Default: none, and without"
                + " it nothing is deployed.")
        @Nullable String driverSocket,
    @Min(1)
        @Max(86400)
        @JsonPropertyDescription(
            "Every how many seconds the driver is probed. Default: it is not probed at all.")
        @Nullable Integer probePeriodSeconds,
    @Min(1)
        @Max(86400)
        @JsonPropertyDescription(
            "How many seconds the driver may take to answer a probe. Default: 30.")
        @Nullable Integer probeTimeoutSeconds,
    @Size(max = 64)
        @JsonPropertyDescription("Storage classes that come and go with the driver. Default: none.")
        @Nullable List<StorageClassTemplate> storageClassTemplates,
    @SchemaFrom(type = NodeUpdateStrategy.class)
        @JsonPropertyDescription(
            "How a changed driverPerNodeTemplate reaches the nodes: Rolling restarts the driver"
                + " pods one after the other; OnDelete waits until a user deletes a pod; Draining"
                + " first moves the pods that use the driver's volumes away from the node, for a"
                + " driver whose restart breaks mounts. Default: Rolling.")
        @Nullable String nodeUpdateStrategy,
    @JsonPropertyDescription(
            "Images of the sidecars. Default: those of the operator's configuration, else chosen by"
                + " the version of the Kubernetes server.")
        @Nullable ContainerImages containerImages,
    @JsonPropertyDescription(
            "On how many nodes at a time Rolling restarts the driver: a number of at least 1, or a"
                + " share such as 10%. Default: 1.")
        @Nullable IntOrString maxUnavailable,
    @JsonPropertyDescription(
            "Settings of the update strategy Draining. Default: the defaults of its fields.")
        @Nullable Draining draining,
    @JsonPropertyDescription("Which sidecars run, and how. Default: the defaults of its fields.")
        @Nullable Sidecars sidecars,
    @JsonPropertyDescription(
            "What the CSIDriver object says about the driver; fields that the server's version does"
                + " not know are left out. Default: the defaults of its fields.")
        @Nullable CSIDriverOptions csiDriver,
    @Min(0)
        @Max(100)
        @JsonPropertyDescription(
            "How many controller pods run. Default: that of the operator's configuration.")
        @Nullable Integer replicas,
    @Min(0) @Max(10) @JsonPropertyDescription("How much the sidecars log. Default: 5.")
        @Nullable Integer logLevel,
    @SchemaFrom(type = DeletionPolicy.class)
        @JsonPropertyDescription(
            "What deleting this resource does while volumes of the driver exist: WhenUnused keeps"
                + " the driver until they are deleted (the annotation"
                + " csidriver.storage.openshift.io/force-deletion=true overrides that), Immediate"
                + " removes it at once. Default: WhenUnused.")
        @Nullable String deletionPolicy) {

  /** A spec in which nothing is set. */
  public static final CSIDriverDeploymentSpec EMPTY =
      new CSIDriverDeploymentSpec(
          null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
          null, null);

  public CSIDriverDeploymentSpec {
    storageClassTemplates =
        storageClassTemplates == null ? null : List.copyOf(storageClassTemplates);
  }

  /** Whether there is a controller, valid or not. */
  public boolean hasController() {
    return driverControllerTemplate != null && !driverControllerTemplate.isNull();
  }
}
