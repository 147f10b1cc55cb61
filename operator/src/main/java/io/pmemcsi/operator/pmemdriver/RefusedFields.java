package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.pmemcsi.api.SharedSpec;
import io.pmemcsi.api.Written;
import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.apply.RefusedObjectException;
import io.pmemcsi.operator.objects.VolumeSnapshotClass;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * From a field of an object that the API server refuses to the field of the resource behind it.
 *
 * @param spec what the user wrote: some fields have two names
 * @param replicas the field with the number of controllers
 * @param resources the field with the compute resources of a container in an object
 */
public record RefusedFields(
    SharedSpec spec, String replicas, BiFunction<HasMetadata, Container, String> resources) {

  private static final Pattern CONTAINER =
      Pattern.compile("spec\\.template\\.spec\\.containers\\[(\\d+)]\\.(\\w+).*");

  private static final Pattern POD_OPTION =
      Pattern.compile(
          "spec\\.template\\.(?:metadata|spec)"
              + "\\.(annotations|tolerations|affinity|priorityClassName)\\b.*");

  /** Whether an object contains more of a resource than its name and its labels. */
  public static boolean isBuiltFromSpec(HasMetadata object) {
    return object instanceof Service
        || object instanceof StorageClass
        || object instanceof VolumeSnapshotClass
        || pod(object) != null;
  }

  /** The message for the user. */
  public String describe(RefusedObjectException refusal) {
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
    if (object instanceof StorageClass) {
      return Optional.of("storageClassTemplates");
    }
    if (object instanceof VolumeSnapshotClass) {
      return Optional.of("snapshotClassTemplates");
    }
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
      return Optional.of(replicas);
    }
    if (path.endsWith(".hostPath.path")) {
      return Optional.of("kubeletDir");
    }
    if (path.startsWith("spec.template.spec.imagePullSecrets")) {
      return Optional.of("imagePullSecrets");
    }
    Matcher option = POD_OPTION.matcher(path);
    if (option.matches()) {
      return Optional.of(
          (object instanceof DaemonSet ? "nodePods." : "controllerPods.") + option.group(1));
    }
    Matcher matcher = CONTAINER.matcher(path);
    PodSpec pod = pod(object);
    if (pod == null || !matcher.matches()) {
      return Optional.empty();
    }
    Container container = pod.getContainers().get(Integer.parseInt(matcher.group(1)));
    return switch (matcher.group(2)) {
      case "resources" -> Optional.of(resources.apply(object, container));
      case "image" -> Optional.of(image(container));
      case "imagePullPolicy" ->
          Optional.of(
              Written.text(spec.pullPolicy()).isPresent() ? "pullPolicy" : "imagePullPolicy");
      case "volumeMounts" -> Optional.of("kubeletDir");
      default -> Optional.empty();
    };
  }

  private String image(Container container) {
    return switch (container.getName()) {
      case "driver-registrar" ->
          Written.text(spec.nodeRegistrarImage()).isEmpty()
                  && Written.text(spec.registrarImage()).isPresent()
              ? "registrarImage"
              : "nodeRegistrarImage";
      case "external-provisioner" -> "provisionerImage";
      case "external-resizer" -> "resizerImage";
      case "external-snapshotter" -> "snapshotterImage";
      default -> "image";
    };
  }

  private static @Nullable PodSpec pod(HasMetadata object) {
    return switch (object) {
      case DaemonSet workload -> workload.getSpec().getTemplate().getSpec();
      case Deployment workload -> workload.getSpec().getTemplate().getSpec();
      case StatefulSet workload -> workload.getSpec().getTemplate().getSpec();
      default -> null;
    };
  }
}
