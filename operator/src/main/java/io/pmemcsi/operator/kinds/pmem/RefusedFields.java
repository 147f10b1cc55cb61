package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.pmem.PmemCSIDeploymentSpec;
import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.apply.RefusedObjectException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * From a field of an object that the API server refuses to the field of the resource behind it.
 *
 * @param spec what the user wrote: some fields have two names, and some stand in for others
 */
record RefusedFields(PmemCSIDeploymentSpec spec) {

  private static final Pattern CONTAINER =
      Pattern.compile("spec\\.template\\.spec\\.containers\\[(\\d+)]\\.(\\w+).*");

  /** Whether an object depends on more of a resource than its name and its labels. */
  static boolean dependOn(HasMetadata object) {
    return object instanceof Service || object instanceof DaemonSet || object instanceof Deployment;
  }

  /** What to tell the user. */
  String describe(RefusedObjectException refusal) {
    if (refusal.causes().isEmpty()) {
      return String.valueOf(refusal.getMessage());
    }
    return refusal.causes().stream()
        .map(cause -> describe(refusal.object(), cause))
        .distinct()
        .collect(Collectors.joining("; "));
  }

  private String describe(HasMetadata object, StatusCause cause) {
    return field(object, String.valueOf(cause.getField()))
        .map(field -> "spec.%s: %s".formatted(field, cause.getMessage()))
        .orElseGet(
            () ->
                "the API server refuses %s of %s: %s"
                    .formatted(cause.getField(), ObjectRef.of(object), cause.getMessage()));
  }

  private Optional<String> field(HasMetadata object, String path) {
    if (path.startsWith("metadata.labels") || path.startsWith("spec.template.metadata.labels")) {
      return Optional.of("labels");
    }
    if (object instanceof Service && path.endsWith(".nodePort")) {
      return Optional.of("schedulerNodePort");
    }
    if (path.startsWith("spec.template.spec.nodeSelector")) {
      return Optional.of("nodeSelector");
    }
    if (path.startsWith("spec.updateStrategy")) {
      return Optional.of("maxUnavailable");
    }
    if (path.equals("spec.replicas")) {
      return Optional.of(
          Written.number(spec.controllerReplicas()).isPresent()
              ? "controllerReplicas"
              : "controllReplicas");
    }
    if (path.endsWith(".hostPath.path")) {
      return Optional.of("kubeletDir");
    }
    Matcher matcher = CONTAINER.matcher(path);
    PodSpec pod = pod(object);
    if (pod == null || !matcher.matches()) {
      return Optional.empty();
    }
    Container container = pod.getContainers().get(Integer.parseInt(matcher.group(1)));
    return switch (matcher.group(2)) {
      case "resources" -> Optional.of(resources(object, container));
      case "image" -> Optional.of(image(container));
      case "imagePullPolicy" ->
          Optional.of(
              Written.text(spec.pullPolicy()).isPresent() ? "pullPolicy" : "imagePullPolicy");
      case "volumeMounts" -> Optional.of("kubeletDir");
      default -> Optional.empty();
    };
  }

  /** The field for one container, unless the user wrote only the one for all of them. */
  private String resources(HasMetadata object, Container container) {
    if (object instanceof Deployment) {
      return spec.controllerDriverResources() == null && spec.controllerResources() != null
          ? "controllerResources"
          : "controllerDriverResources";
    }
    return switch (container.getName()) {
      case "driver-registrar" -> ofNode("nodeRegistrarResources", spec.nodeRegistrarResources());
      case "external-provisioner" -> ofNode("provisionerResources", spec.provisionerResources());
      default -> ofNode("nodeDriverResources", spec.nodeDriverResources());
    };
  }

  private String ofNode(String field, @Nullable ResourceRequirements written) {
    return written == null && spec.nodeResources() != null ? "nodeResources" : field;
  }

  private String image(Container container) {
    return switch (container.getName()) {
      case "driver-registrar" ->
          Written.text(spec.nodeRegistrarImage()).isEmpty()
                  && Written.text(spec.registrarImage()).isPresent()
              ? "registrarImage"
              : "nodeRegistrarImage";
      case "external-provisioner" -> "provisionerImage";
      default -> "image";
    };
  }

  private static @Nullable PodSpec pod(HasMetadata object) {
    return switch (object) {
      case DaemonSet workload -> workload.getSpec().getTemplate().getSpec();
      case Deployment workload -> workload.getSpec().getTemplate().getSpec();
      default -> null;
    };
  }
}
