package io.pmemcsi.driver;

import com.google.protobuf.Message;
import csi.v1.CapacityRange;
import csi.v1.ControllerGetCapabilitiesRequest;
import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.GetPluginCapabilitiesRequest;
import csi.v1.GetPluginInfoRequest;
import csi.v1.GetSnapshotRequest;
import csi.v1.ListSnapshotsRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.NodeExpandVolumeRequest;
import csi.v1.NodeGetCapabilitiesRequest;
import csi.v1.NodeGetInfoRequest;
import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.ProbeRequest;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import csi.v1.VolumeContentSource;
import io.grpc.Status;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.store.Ledger;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The expected result of a request according to the CSI specification and the documentation of the
 * driver, independent of its code: the required error codes and message, or else the allowed ones.
 */
final class FuzzOracle {

  private static final Set<String> FORBIDDEN =
      Set.of("bind", "rbind", "remount", "move", "loop", "user", "users", "dax=never", "nodax");
  private static final Set<String> STORAGE_CLASS =
      Set.of("eraseafter", "eraseAfter", "kataContainers", "usage", "persistencyModel");

  private final Ledger ledger;
  private final Map<Status.Code, Set<String>> refusals = new EnumMap<>(Status.Code.class);
  private final Set<Status.Code> possible = EnumSet.of(Status.Code.OK);

  private FuzzOracle(Ledger ledger) {
    this.ledger = ledger;
  }

  /** Evaluates one request. */
  static FuzzOracle of(Message request, Ledger ledger) {
    FuzzOracle oracle = new FuzzOracle(ledger);
    oracle.evaluate(request);
    return oracle;
  }

  /** Whether the status is an expected one. */
  boolean allows(Status.Code code, String message) {
    if (refusals.isEmpty()) {
      return possible.contains(code);
    }
    return refusals.getOrDefault(code, Set.of()).stream().anyMatch(message::contains);
  }

  @Override
  public String toString() {
    return refusals.isEmpty() ? "one of " + possible : "a refusal: " + refusals;
  }

  private void evaluate(Message any) {
    switch (any) {
      case GetPluginInfoRequest _,
          GetPluginCapabilitiesRequest _,
          ProbeRequest _,
          ControllerGetCapabilitiesRequest _,
          GetCapacityRequest _,
          NodeGetCapabilitiesRequest _,
          NodeGetInfoRequest _ -> {}
      case CreateVolumeRequest r -> create(r);
      case DeleteVolumeRequest r -> {
        present("volume_id", r.getVolumeId());
        find(r.getVolumeId()).ifPresent(_ -> may(Status.Code.FAILED_PRECONDITION));
      }
      case ListVolumesRequest r -> list(r.getMaxEntries(), r.getStartingToken());
      case ListSnapshotsRequest r -> list(r.getMaxEntries(), r.getStartingToken());
      case CreateSnapshotRequest r -> {
        name(r.getName());
        known(r.getSourceVolumeId());
        r.getParametersMap().keySet().stream()
            .filter(key -> !key.startsWith("csi.storage.k8s.io/"))
            .forEach(_ -> invalid("parameter"));
        may(
            Status.Code.ALREADY_EXISTS,
            Status.Code.FAILED_PRECONDITION,
            Status.Code.RESOURCE_EXHAUSTED);
      }
      case DeleteSnapshotRequest r -> present("snapshot_id", r.getSnapshotId());
      case GetSnapshotRequest r -> {
        present("snapshot_id", r.getSnapshotId());
        may(Status.Code.NOT_FOUND);
      }
      case ValidateVolumeCapabilitiesRequest r -> {
        known(r.getVolumeId());
        present("volume_capabilities", r.getVolumeCapabilitiesCount());
      }
      case NodeStageVolumeRequest r -> {
        known(r.getVolumeId());
        path("staging_target_path", r.getStagingTargetPath());
        capability(r.hasVolumeCapability(), r.getVolumeCapability());
        persistent(r.getVolumeContextMap());
        mounting(r.getVolumeCapability());
      }
      case NodeUnstageVolumeRequest r -> {
        known(r.getVolumeId());
        path("staging_target_path", r.getStagingTargetPath());
        may(Status.Code.FAILED_PRECONDITION);
      }
      case NodePublishVolumeRequest r -> publish(r);
      case NodeUnpublishVolumeRequest r -> {
        present("volume_id", r.getVolumeId());
        path("target_path", r.getTargetPath());
        // kubelet can unpublish a volume that no longer exists, unless something is mounted there
        may(Status.Code.NOT_FOUND, Status.Code.FAILED_PRECONDITION);
      }
      case NodeGetVolumeStatsRequest r -> {
        known(r.getVolumeId());
        volumePath(r.getVolumePath());
        may(Status.Code.NOT_FOUND);
      }
      case NodeExpandVolumeRequest r -> {
        known(r.getVolumeId());
        volumePath(r.getVolumePath());
        range(r.getCapacityRange());
        may(
            Status.Code.NOT_FOUND,
            Status.Code.FAILED_PRECONDITION,
            Status.Code.OUT_OF_RANGE,
            Status.Code.RESOURCE_EXHAUSTED);
      }
      // all others are unimplemented
      default -> refuse(Status.Code.UNIMPLEMENTED, "");
    }
  }

  private void name(String name) {
    boolean odd = name.chars().anyMatch(c -> c < 0x20 || (c >= 0x7f && c <= 0x9f) || c >= 0xfffe);
    if (name.isEmpty() || name.length() > 128 || odd) {
      invalid("name");
    }
  }

  private void create(CreateVolumeRequest r) {
    name(r.getName());
    present("volume_capabilities", r.getVolumeCapabilitiesCount());
    r.getVolumeCapabilitiesList().forEach(this::capability);
    parameters(r.getParametersMap(), STORAGE_CLASS, Set.of("", "normal", "none"));
    range(r.getCapacityRange());
    if (r.hasVolumeContentSource()) {
      contentSource(r);
    }
    if (r.getChangeableParametersCount() > 0) {
      invalid("mutable_parameters");
    }
    boolean kata = isTrue(r.getParametersMap(), "kataContainers");
    if (kata && r.getVolumeCapabilitiesList().stream().anyMatch(VolumeCapability::hasBlock)) {
      invalid("kataContainers");
    }
    if (r.getAccessibilityRequirements().getRequisiteCount() > 0) {
      // even if the request has other errors
      may(Status.Code.RESOURCE_EXHAUSTED);
      if (!refusals.isEmpty()) {
        refuse(Status.Code.RESOURCE_EXHAUSTED, "accessibility_requirements");
      }
    }
    may(Status.Code.ALREADY_EXISTS, Status.Code.RESOURCE_EXHAUSTED, Status.Code.OUT_OF_RANGE);
  }

  private void contentSource(CreateVolumeRequest r) {
    VolumeContentSource source = r.getVolumeContentSource();
    if (source.getSnapshot().getSnapshotId().isEmpty()
        && source.getVolume().getVolumeId().isEmpty()) {
      invalid("volume_content_source");
    }
    if (isTrue(r.getParametersMap(), "kataContainers")) {
      may(Status.Code.INVALID_ARGUMENT);
    }
    may(Status.Code.NOT_FOUND, Status.Code.FAILED_PRECONDITION);
  }

  private void list(int maxEntries, String token) {
    if (maxEntries < 0) {
      invalid("max_entries");
    }
    if (!token.isEmpty() && !token.matches("[A-Za-z0-9_+.-]{1,6}-[0-9a-f]{56}")) {
      refuse(Status.Code.ABORTED, "starting_token");
    }
  }

  private void publish(NodePublishVolumeRequest r) {
    path("target_path", r.getTargetPath());
    if (!r.getStagingTargetPath().isEmpty()) {
      path("staging_target_path", r.getStagingTargetPath());
    }
    capability(r.hasVolumeCapability(), r.getVolumeCapability());
    Map<String, String> context = r.getVolumeContextMap();
    String flag = context.get("csi.storage.k8s.io/ephemeral");
    if (flag != null && !isBoolean(flag)) {
      invalid("csi.storage.k8s.io/ephemeral");
    }
    Optional<VolumeRecord> volume = find(r.getVolumeId());
    boolean persistentKnown = volume.filter(v -> !v.parameters().ephemeral()).isPresent();
    boolean looksEphemeral =
        r.getStagingTargetPath().isEmpty() && context.containsKey("size") && !persistentKnown;
    if (flag != null ? isTrue(context, "csi.storage.k8s.io/ephemeral") : looksEphemeral) {
      present("volume_id", r.getVolumeId());
      parameters(context, Set.of("eraseafter", "eraseAfter", "kataContainers", "usage"), Set.of());
      if (!context.getOrDefault("size", "").matches("[0-9]+(Ki|Mi|Gi)?")) {
        invalid("size");
      }
      if (r.getVolumeCapability().hasBlock()) {
        invalid("volume_capability");
      }
      may(Status.Code.RESOURCE_EXHAUSTED);
    } else {
      known(r.getVolumeId());
      persistent(context);
    }
    mounting(r.getVolumeCapability());
  }

  /** Errors that depend on the state of the volume and of the path. */
  private void mounting(VolumeCapability capability) {
    may(Status.Code.ALREADY_EXISTS, Status.Code.FAILED_PRECONDITION);
    // a file instead of a directory, or vice versa
    may(Status.Code.INVALID_ARGUMENT);
    if (capability.getMount().getMountFlagsCount() > 0) {
      // an option that the filesystem does not know
      may(Status.Code.INTERNAL);
    }
  }

  private void capability(boolean given, VolumeCapability capability) {
    if (given) {
      capability(capability);
    } else {
      invalid("volume_capability");
    }
  }

  private void capability(VolumeCapability capability) {
    if (!capability.hasBlock() && !capability.hasMount()) {
      invalid("access_type");
    }
    Mode mode = capability.getAccessMode().getMode();
    if (mode == Mode.UNKNOWN || mode.name().startsWith("MULTI_NODE")) {
      invalid("access_mode");
    }
    if (!Set.of("", "ext4", "xfs").contains(capability.getMount().getFsType())) {
      invalid("fs_type");
    }
    for (String flag : capability.getMount().getMountFlagsList()) {
      boolean plain = flag.chars().allMatch(c -> c > 0x20 && c < 0x7f && c != ',');
      if (flag.isEmpty() || flag.length() > 256 || !plain || FORBIDDEN.contains(flag)) {
        invalid("mount_flags");
      }
    }
  }

  private void persistent(Map<String, String> context) {
    Set<String> keys = new TreeSet<>(STORAGE_CLASS);
    keys.addAll(List.of("name", "cacheSize", "storage.kubernetes.io/csiProvisionerIdentity"));
    parameters(context, keys, Set.of("", "normal", "none", "ephemeral", "cache"));
  }

  private void parameters(Map<String, String> written, Set<String> keys, Set<String> models) {
    boolean kubernetes = !keys.equals(STORAGE_CLASS);
    boolean ephemeral = models.isEmpty();
    written.forEach(
        (key, value) -> {
          boolean known =
              keys.contains(key)
                  || (ephemeral && key.equals("size"))
                  || (kubernetes && key.startsWith("csi.storage.k8s.io/"));
          boolean bool = Set.of("eraseafter", "eraseAfter", "kataContainers").contains(key);
          boolean good =
              !(bool && !isBoolean(value))
                  && !(key.equals("usage") && !Set.of("", "AppDirect", "FileIO").contains(value))
                  && !(key.equals("persistencyModel") && !models.contains(value));
          if (!known || !good) {
            invalid("\"%s\"".formatted(key));
          }
        });
    String erase = written.get("eraseafter");
    if (erase != null && !erase.equals(written.getOrDefault("eraseAfter", erase))) {
      invalid("eraseafter");
    }
    if (isTrue(written, "kataContainers") && "FileIO".equals(written.get("usage"))) {
      invalid("kataContainers");
    }
  }

  private static boolean isBoolean(String value) {
    return value.matches("1|t|T|TRUE|true|True|0|f|F|FALSE|false|False");
  }

  private static boolean isTrue(Map<String, String> values, String key) {
    return values.getOrDefault(key, "").matches("1|t|T|TRUE|true|True");
  }

  private void range(CapacityRange range) {
    if (range.getRequiredBytes() < 0) {
      invalid("required_bytes");
    }
    if (range.getLimitBytes() < 0) {
      invalid("limit_bytes");
    }
    if (range.getLimitBytes() > 0 && range.getRequiredBytes() > range.getLimitBytes()) {
      invalid("limit_bytes");
    }
  }

  private void path(String field, String value) {
    if (!value.startsWith("/") || value.indexOf('\0') >= 0) {
      invalid(field);
    }
  }

  /** A path that cannot hold a volume is not found. */
  private void volumePath(String value) {
    present("volume_path", value);
    if (value.indexOf('\0') >= 0) {
      refuse(Status.Code.NOT_FOUND, "volume_path");
    }
  }

  private void present(String field, String value) {
    present(field, value.length());
  }

  private void present(String field, int count) {
    if (count == 0) {
      invalid(field);
    }
  }

  private void known(String volumeId) {
    present("volume_id", volumeId);
    if (!volumeId.isEmpty() && find(volumeId).isEmpty()) {
      refuse(Status.Code.NOT_FOUND, "does not exist");
    }
  }

  private Optional<VolumeRecord> find(String volumeId) {
    if (volumeId.isEmpty()) {
      return Optional.empty();
    }
    return VolumeId.parse(volumeId)
        .flatMap(ledger::find)
        .or(
            () ->
                ledger
                    .find(VolumeId.fromName(volumeId))
                    .filter(entry -> entry.parameters().ephemeral()));
  }

  private void invalid(String word) {
    refuse(Status.Code.INVALID_ARGUMENT, word);
  }

  private void refuse(Status.Code code, String word) {
    refusals.computeIfAbsent(code, _ -> new TreeSet<>()).add(word);
  }

  private void may(Status.Code... codes) {
    possible.addAll(List.of(codes));
  }
}
