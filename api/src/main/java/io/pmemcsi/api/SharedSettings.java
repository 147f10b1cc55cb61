package io.pmemcsi.api;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The settings that follow from a {@link SharedSpec} without violations, with their defaults. */
public interface SharedSettings {

  int DEFAULT_LOG_LEVEL = 3;
  int DEFAULT_PERCENTAGE = 100;
  String DEFAULT_KUBELET_DIR = "/var/lib/kubelet";
  Map<String, String> DEFAULT_NODE_SELECTOR = Map.of("storage", "pmem");

  /** What the user wrote. */
  SharedSpec spec();

  default Optional<String> image() {
    return Written.text(spec().image());
  }

  default Optional<String> provisionerImage() {
    return Written.text(spec().provisionerImage());
  }

  /** Only newer resources can name one. */
  default Optional<String> resizerImage() {
    return Optional.empty();
  }

  /** Only newer resources can name one. */
  default Optional<String> snapshotterImage() {
    return Optional.empty();
  }

  /** Only newer resources can name any. */
  default List<PullSecret> imagePullSecrets() {
    return List.of();
  }

  /** Only newer resources have them. */
  default PodOptions nodePods() {
    return PodOptions.DEFAULT;
  }

  /** Only newer resources have them. */
  default PodOptions controllerPods() {
    return PodOptions.DEFAULT;
  }

  /** Only newer resources can do without. */
  default boolean networkPolicies() {
    return true;
  }

  /** Only newer resources have them. */
  default NodeSidecars sidecars() {
    return NodeSidecars.DEFAULT;
  }

  /** Only newer resources have them. */
  default List<StorageClassTemplate> storageClassTemplates() {
    return List.of();
  }

  /** Only newer resources have them. */
  default List<SnapshotClassTemplate> snapshotClassTemplates() {
    return List.of();
  }

  /** Whether the driver removes the startup taint from its node; only newer resources can. */
  default boolean startupTaint() {
    return false;
  }

  /** Either spelling: where both are set they are equal. */
  default Optional<String> nodeRegistrarImage() {
    return Written.text(spec().nodeRegistrarImage())
        .or(() -> Written.text(spec().registrarImage()));
  }

  /** Either spelling: where both are set they are equal. */
  default PullPolicy pullPolicy() {
    return Choice.orDefault(
        Written.text(spec().pullPolicy())
            .or(() -> Written.text(spec().imagePullPolicy()))
            .orElse(null),
        PullPolicy.IF_NOT_PRESENT);
  }

  default DeviceMode deviceMode() {
    return Choice.orDefault(spec().deviceMode(), DeviceMode.LVM);
  }

  default int logLevel() {
    return Written.number(spec().logLevel()).orElse(DEFAULT_LOG_LEVEL);
  }

  default LogFormat logFormat() {
    return Choice.orDefault(spec().logFormat(), LogFormat.TEXT);
  }

  /** The labels that select nodes; an empty map that the user wrote selects all of them. */
  default Map<String, String> nodeSelector() {
    Map<String, String> selector = spec().nodeSelector();
    return selector == null ? DEFAULT_NODE_SELECTOR : selector;
  }

  default int pmemPercentage() {
    return Written.number(spec().pmemPercentage()).orElse(DEFAULT_PERCENTAGE);
  }

  default Map<String, String> labels() {
    Map<String, String> labels = spec().labels();
    return labels == null ? Map.of() : labels;
  }

  /** The kubelet's directory, without a slash at its end. */
  default String kubeletDir() {
    return Written.text(spec().kubeletDir()).orElse(DEFAULT_KUBELET_DIR).replaceFirst("/+$", "");
  }

  default MutatePods mutatePods() {
    return Choice.orDefault(spec().mutatePods(), MutatePods.TRY);
  }

  /** The fixed node port of the scheduler extender, if the user requests one. */
  default Optional<Integer> schedulerNodePort() {
    return Written.number(spec().schedulerNodePort());
  }
}
