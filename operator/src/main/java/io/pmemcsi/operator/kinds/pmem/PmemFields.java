package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.pmemcsi.api.NodeSidecars;
import io.pmemcsi.api.Sidecar;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.pmem.PmemCSIDeploymentSpec;
import io.pmemcsi.operator.pmemdriver.RefusedFields;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The fields from which objects are computed.
 *
 * @param spec what the user wrote: some fields have two names, and some stand in for others
 */
record PmemFields(PmemCSIDeploymentSpec spec) {

  RefusedFields refused() {
    return new RefusedFields(
        spec,
        Written.number(spec.controllerReplicas()).isPresent()
            ? "controllerReplicas"
            : "controllReplicas",
        this::resources);
  }

  /** The field for one container, unless the user wrote only the one for all of them. */
  private String resources(HasMetadata object, Container container) {
    if (object instanceof Deployment) {
      return spec.controllerDriverResources() == null && spec.controllerResources() != null
          ? "controllerResources"
          : "controllerDriverResources";
    }
    NodeSidecars sidecars = Optional.ofNullable(spec.sidecars()).orElse(NodeSidecars.DEFAULT);
    return switch (container.getName()) {
      case "driver-registrar" ->
          ofSidecar("nodeRegistrar", sidecars.nodeRegistrar())
              .orElseGet(() -> ofNode("nodeRegistrarResources", spec.nodeRegistrarResources()));
      case "external-provisioner" -> ofProvisioner("provisioner", sidecars.provisioner());
      case "external-resizer" -> ofProvisioner("resizer", sidecars.resizer());
      case "external-snapshotter" -> ofProvisioner("snapshotter", sidecars.snapshotter());
      default -> ofNode("nodeDriverResources", spec.nodeDriverResources());
    };
  }

  private String ofProvisioner(String name, @Nullable Sidecar written) {
    return ofSidecar(name, written)
        .orElseGet(() -> ofNode("provisionerResources", spec.provisionerResources()));
  }

  private static Optional<String> ofSidecar(String name, @Nullable Sidecar written) {
    return written == null || written.resources() == null
        ? Optional.empty()
        : Optional.of("sidecars.%s.resources".formatted(name));
  }

  private String ofNode(String field, @Nullable ResourceRequirements written) {
    return written == null && spec.nodeResources() != null ? "nodeResources" : field;
  }
}
