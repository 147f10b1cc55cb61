package io.pmemcsi.driver.node;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.linux.block.BlockDevices;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.linux.mount.MountAttributes;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.MountOptions;
import io.pmemcsi.driver.linux.mount.Mounts;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.operations.Lookup;
import io.pmemcsi.driver.volume.operations.VolumeCreator;
import io.pmemcsi.driver.volume.operations.VolumeDeleter;
import io.pmemcsi.driver.volume.operations.Volumes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Mounts volumes for pods, and creates and deletes those that live only as long as their pod. */
public final class Publishing {

  private static final Logger LOG = LoggerFactory.getLogger(Publishing.class);

  private final Volumes volumes;
  private final VolumeCreator creator;
  private final VolumeDeleter deleter;
  private final Formatter formatter;
  private final VolumeMounts volumeMounts;
  private final Mounts mounts;
  private final DeviceUsers users;
  private final KataVolumes kata;
  private final PendingMounts pending;
  private final ProtectedPaths paths;
  private final LegacyBindMounts legacyMounts = new LegacyBindMounts();

  public Publishing(
      Volumes volumes,
      VolumeCreator creator,
      VolumeDeleter deleter,
      Formatter formatter,
      VolumeMounts volumeMounts,
      Mounts mounts,
      DeviceUsers users,
      KataVolumes kata,
      PendingMounts pending,
      ProtectedPaths paths) {
    this.volumes = volumes;
    this.creator = creator;
    this.deleter = deleter;
    this.formatter = formatter;
    this.volumeMounts = volumeMounts;
    this.mounts = mounts;
    this.users = users;
    this.kata = kata;
    this.pending = pending;
    this.paths = paths;
  }

  /** Whether a request names a volume that CreateVolume has created. */
  public boolean isKnownPersistent(String volumeId) {
    return switch (volumes.resolve(volumeId)) {
      case Lookup.Known(VolumeRecord volume) -> !volume.isEphemeral();
      case Lookup.Damaged _ -> true;
      case Lookup.Unknown _ -> false;
    };
  }

  /** Mounts a volume that CreateVolume has created where a pod expects it. */
  public void publish(
      String volumeId, Optional<Path> staging, Path target, Access access, boolean readOnly) {
    paths.refuse(target);
    volumes.withVolume(
        volumeId,
        lookup -> {
          VolumeRecord volume = lookup.require();
          Device device = volumes.usableDevice(volume);
          switch (access) {
            case Access.Block block -> publishBlock(volume, device, target, block, readOnly);
            case Access.Mount mount ->
                publishStaged(volume, device, required(staging), target, mount, readOnly);
          }
          LOG.atInfo()
              .addKeyValue("volume", volume.id())
              .addKeyValue("path", target)
              .log("Volume published.");
          return lookup;
        });
  }

  /** Creates a volume for one pod and mounts it there. */
  public void publishEphemeral(
      String volumeId, Path target, Access access, boolean readOnly, VolumeParameters parameters) {
    paths.refuse(target);
    Access.Mount mount =
        switch (access) {
          case Access.Mount requested -> requested;
          case Access.Block _ ->
              throw new VolumeException.InvalidRequest(
                  "volume_capability: ephemeral inline volumes cannot be raw block volumes");
        };
    volumes.withVolume(
        volumeId,
        lookup -> {
          publishEphemeral(lookup, volumeId, target, mount, readOnly, parameters);
          return lookup;
        });
  }

  private void publishEphemeral(
      Lookup lookup,
      String volumeId,
      Path target,
      Access.Mount mount,
      boolean readOnly,
      VolumeParameters parameters) {
    boolean created =
        switch (lookup) {
          case Lookup.Known(VolumeRecord volume) -> {
            if (!volume.isEphemeral()) {
              throw new VolumeException.Incompatible(
                  "volume_id \"%s\" is that of a persistent volume".formatted(volumeId));
            }
            yield volume.state() instanceof VolumeState.Creating;
          }
          case Lookup.Damaged _, Lookup.Unknown _ -> true;
        };
    long minimum = mount.type().map(FilesystemType::minimumBytes).orElse(0L);
    SizeRange size = new SizeRange(parameters.sizeBytes().orElse(0), 0).atLeast(minimum);
    VolumeRecord volume = creator.create(volumeId, size, parameters);
    try {
      publishCreated(volume, volumes.usableDevice(volume), target, mount, readOnly);
    } catch (RuntimeException e) {
      Cancellation.uncancellable(() -> rollBack(volume, created, target, e));
      throw e;
    }
    LOG.atInfo()
        .addKeyValue("volume", volume.id())
        .addKeyValue("path", target)
        .log("Ephemeral volume published.");
  }

  /** Unmounts a volume from a pod; an ephemeral one is deleted. */
  public void unpublish(String volumeId, Path target) {
    paths.refuse(target);
    volumes.withVolume(
        volumeId,
        lookup -> {
          switch (lookup) {
            case Lookup.Known(VolumeRecord volume) -> unpublish(volume, target);
            case Lookup.Damaged _ -> {
              // unmounting is safe even where the record of the volume is damaged
              volumeMounts.unmountAll(target, Optional.empty());
              MountPoints.remove(target);
            }
            case Lookup.Unknown _ -> {
              if (mounts.table().at(target).isPresent()) {
                throw new VolumeException.NotFound(
                    "volume \"%s\" does not exist, but something is mounted at %s"
                        .formatted(volumeId, target));
              }
              // the pod must be able to terminate although its volume does not exist
              MountPoints.remove(target);
            }
          }
          LOG.atInfo()
              .addKeyValue("volume", lookup.id())
              .addKeyValue("path", target)
              .log("Volume unpublished.");
          return lookup;
        });
  }

  private void unpublish(VolumeRecord volume, Path target) {
    takeDown(volume, target);
    if (volume.isEphemeral()) {
      deleter.delete(volume);
    }
  }

  private void takeDown(VolumeRecord entry, Path target) {
    if (entry.parameters().kataContainers()) {
      kata.unpublish(entry, target);
    } else {
      volumeMounts.unmountAll(target, volumes.device(entry).flatMap(DeviceUsers::numberIfExists));
    }
    MountPoints.remove(target);
    pending.clear(target);
    legacyMounts.unpublished(target);
  }

  private void publishBlock(
      VolumeRecord entry, Device device, Path target, Access.Block access, boolean readOnly) {
    KataVolumes.refuseBlock(entry);
    refuseSecondWriter(entry, device, access, Optional.empty(), target);
    List<String> options = readOnly ? List.of("ro") : List.of();
    unmountLegacy(device, target, options);
    Optional<MountEntry> there = mounts.table().at(target);
    if (there.isPresent()) {
      if (!BlockDevices.isNodeOf(target, DeviceUsers.number(device))) {
        throw new VolumeException.Incompatible("something else is mounted at %s".formatted(target));
      }
      VolumeMounts.requireSame(there.get(), readOnly);
      return;
    }
    users.refuseMounted(device);
    formatter.recordRawUse(entry, device);
    MountPoints.createFile(target);
    bind(device.path(), target, options);
  }

  private void publishStaged(
      VolumeRecord entry,
      Device device,
      Path staging,
      Path target,
      Access.Mount access,
      boolean readOnly) {
    if (!volumeMounts.isMountedAt(device, staging)) {
      throw new VolumeException.PreconditionFailed(
          "volume %s is not staged at staging_target_path %s".formatted(entry.id(), staging));
    }
    volumeMounts.requireRequestedDax(staging, access);
    refuseSecondWriter(entry, device, access, Optional.of(staging), target);
    List<String> options = options(access, readOnly);
    if (entry.parameters().kataContainers()) {
      kata.publish(entry, target, access, options, host -> mounts.bind(staging, host));
      return;
    }
    // all other options are those of the filesystem, which has them since it was staged
    List<String> perMount = MountAttributes.perMountOptions(options);
    unmountLegacy(device, target, perMount);
    Access.Mount bound = new Access.Mount(access.type(), perMount, access.singleWriter());
    if (!volumeMounts.isMounted(entry, device, target, bound, readOnly)) {
      users.refuseRawBlock(device);
      MountPoints.createDirectory(target);
      bind(staging, target, perMount);
    }
  }

  private void publishCreated(
      VolumeRecord volume, Device device, Path target, Access.Mount access, boolean readOnly) {
    List<String> options = options(access, readOnly);
    boolean image = volume.parameters().kataContainers();
    if (!image && volumeMounts.isMounted(volume, device, target, access, readOnly)) {
      volumeMounts.finish(target);
      return;
    }
    VolumeMounts.refuseImpossibleDax(volume, access);
    users.refuseRawBlock(device);
    Formatter.Result formatted = formatter.ensure(volume, device, access.type());
    if (image) {
      kata.publish(
          formatted.volume(),
          target,
          access,
          options,
          host -> volumeMounts.mount(volume, device, host, formatted.type(), access.flags()));
    } else {
      MountPoints.createDirectory(target);
      volumeMounts.mount(volume, device, target, formatted.type(), options);
    }
  }

  /** Undoes a failed publication: kubelet does not call NodeUnpublishVolume after it. */
  private void rollBack(
      VolumeRecord volume, boolean created, Path target, RuntimeException reason) {
    try {
      VolumeRecord now = volumes.current(volume).orElse(volume);
      if (created && mounts.table().at(target).isEmpty()) {
        // no pod has seen it: erasing would only take time
        takeDown(now, target);
        deleter.discard(now);
      } else if (created || formatter.isUntouched(now)) {
        // also one that an earlier call has created, as long as nothing was put on it
        unpublish(now, target);
      }
    } catch (RuntimeException e) {
      // it stays in the ledger, and NodeUnpublishVolume removes it
      reason.addSuppressed(e);
    }
  }

  private void bind(Path source, Path target, List<String> options) {
    mounts.bind(source, target, options);
    legacyMounts.published(target);
  }

  /** Unmounts what an earlier release mounted at a target without the options of the request. */
  private void unmountLegacy(Device device, Path target, List<String> options) {
    Optional<MountEntry> there = mounts.table().at(target);
    boolean legacy =
        pending.isSet(target)
            || there.filter(mount -> legacyMounts.matches(mount, options)).isPresent();
    if (there.isPresent() && legacy && isOf(device, target, there.get())) {
      LOG.atInfo()
          .addKeyValue("path", target)
          .addKeyValue("options", String.join(",", options))
          .log("Replacing a mount of an earlier release that lacks mount options.");
      volumeMounts.unmountAll(target, Optional.of(DeviceUsers.number(device)));
    }
    pending.clear(target);
  }

  private static boolean isOf(Device device, Path target, MountEntry mount) {
    DeviceNumber number = DeviceUsers.number(device);
    return mount.number().equals(number) || BlockDevices.isNodeOf(target, number);
  }

  private void refuseSecondWriter(
      VolumeRecord entry, Device device, Access access, Optional<Path> staging, Path target) {
    if (!access.singleWriter()) {
      return;
    }
    List<MountEntry> all = new ArrayList<>(users.mountsOf(device));
    all.addAll(kata.publications(entry));
    all.removeIf(mount -> mount.mountPoint().equals(target));
    all.removeIf(mount -> staging.isPresent() && mount.mountPoint().equals(staging.get()));
    all.removeIf(mount -> mount.mountPoint().equals(kata.hostMount(entry)));
    if (!all.isEmpty()) {
      throw new VolumeException.PreconditionFailed(
          "volume %s may have a single writer only and is published at %s already"
              .formatted(entry.id(), all.getFirst().mountPoint()));
    }
  }

  private static List<String> options(Access.Mount access, boolean readOnly) {
    List<String> options = new ArrayList<>(access.flags());
    options.removeAll(List.of("ro", "rw"));
    if (readOnly || MountOptions.of(access.flags()).isReadOnly()) {
      options.add("ro");
    }
    return options;
  }

  private static Path required(Optional<Path> staging) {
    return staging.orElseThrow(
        () ->
            new VolumeException.PreconditionFailed(
                "staging_target_path is missing: stage the volume first"));
  }
}
