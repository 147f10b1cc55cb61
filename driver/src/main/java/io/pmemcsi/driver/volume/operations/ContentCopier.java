package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.linux.block.BlockDevices;
import io.pmemcsi.driver.linux.block.Signatures;
import io.pmemcsi.driver.linux.block.Signatures.Found;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.Mounts;
import io.pmemcsi.driver.state.StateException;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.VolumeState.Filesystem;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies what a volume or a snapshot holds to a new device, as it was at one moment.
 *
 * <p>Thin volumes and snapshots of device-mapper have no DAX, so it is a full copy, during which a
 * mounted filesystem is frozen. The copy gets a UUID of its own: xfs refuses to mount two
 * filesystems with the same one.
 */
public final class ContentCopier {
  private static final Logger LOG = LoggerFactory.getLogger(ContentCopier.class);
  private static final int ERRORS_CORRECTED = 1;

  private final Volumes volumes;
  private final DeviceUsers users;
  private final Signatures signatures;
  private final Mounts mounts;
  private final CommandRunner runner;
  private final PendingFreezes freezes;
  private final Cancellation stop = new Cancellation();

  public ContentCopier(
      Volumes volumes,
      DeviceUsers users,
      Signatures signatures,
      Mounts mounts,
      CommandRunner runner,
      PendingFreezes freezes) {
    this.volumes = volumes;
    this.users = users;
    this.signatures = signatures;
    this.mounts = mounts;
    this.runner = runner;
    this.freezes = freezes;
  }

  /**
   * Thaws filesystems that a driver which was killed during a copy has left frozen; for the start
   * of the driver, because pods that write to them hang. One that cannot be thawed does not keep
   * the driver from serving the others.
   */
  public void thawInterrupted() {
    for (VolumeId id : freezes.recorded()) {
      try {
        volumes
            .find(id)
            .flatMap(volumes::device)
            .map(this::filesystems)
            .flatMap(found -> found.stream().findFirst())
            .ifPresent(mount -> mounts.thaw(mount.mountPoint()));
        freezes.remove(id);
      } catch (RuntimeException e) {
        LOG.atWarn()
            .addKeyValue("volume", id)
            .addKeyValue("error", e.getMessage())
            .log(
                "A filesystem that a killed driver froze was not thawed, the next start tries it.");
      }
    }
  }

  /**
   * Stops all copies, for the end of the driver: killed in the middle of one it would leave the
   * filesystem of the source frozen.
   */
  public void stop() {
    stop.cancel();
  }

  /**
   * Fills a new device with the content of a volume or snapshot, whose lock the caller holds.
   *
   * @return what the device holds then
   */
  VolumeState copy(VolumeRecord source, Device target, DeviceManager manager) {
    Device device = volumes.usableDevice(source);
    if (source.state() instanceof VolumeState.Blank && signatures.isUntouched(device.path())) {
      signatures.wipe(target.path());
      return VolumeState.Blank.wiped();
    }
    long begin = System.nanoTime();
    VolumeState state = copy(source, device, target, manager);
    LOG.atInfo()
        .addKeyValue("volume", source.id())
        .addKeyValue("copy", target.id())
        .addKeyValue("bytes", device.sizeBytes())
        .addKeyValue("millis", (System.nanoTime() - begin) / 1_000_000)
        .log("Volume copied.");
    return state;
  }

  /** A caller that gives up after some minutes calls again and finds a finished copy. */
  private VolumeState copy(
      VolumeRecord source, Device device, Device target, DeviceManager manager) {
    try {
      return stop.serve(
          () -> {
            copyFrozen(source, device, target, manager);
            return withOwnUuid(source, target);
          });
    } catch (ToolFailedException e) {
      if (e.reason() != ToolFailedException.Reason.CANCELLED) {
        throw e;
      }
      throw new VolumeException.Unfinished(
          "the driver was stopped while it copied volume %s, call again".formatted(source.id()));
    }
  }

  private void copyFrozen(
      VolumeRecord source, Device device, Device target, DeviceManager manager) {
    List<MountEntry> filesystems = filesystems(device);
    try {
      if (filesystems.isEmpty()) {
        refuseMountedNode(source, device);
        try (BlockDevices.Hold _ = BlockDevices.holdExclusively(device.path())) {
          manager.copy(device, target);
        }
      } else {
        Path mountPoint = filesystems.getFirst().mountPoint();
        boolean frozen = freeze(source.id(), mountPoint);
        try {
          manager.copy(device, target);
        } finally {
          if (frozen) {
            thaw(source.id(), mountPoint);
          }
        }
      }
    } catch (BlockDevices.BusyException e) {
      throw new DeviceException.InUse(source.id(), String.valueOf(e.getMessage()));
    } catch (IOException e) {
      throw new DeviceException.ToolFailed("copy the device of " + source.id(), e);
    }
  }

  /**
   * Freezes a filesystem. A record stays only if this driver has frozen it: by a record that is
   * wrong the next start would thaw what another program has frozen.
   */
  private boolean freeze(VolumeId id, Path mountPoint) throws IOException {
    freezes.record(id);
    boolean frozen;
    try {
      frozen = mounts.freeze(mountPoint);
    } catch (IOException | RuntimeException e) {
      try {
        freezes.remove(id);
      } catch (StateException failure) {
        e.addSuppressed(failure);
      }
      throw e;
    }
    if (!frozen) {
      // another program has, and ends it
      freezes.remove(id);
    }
    return frozen;
  }

  /** Ends a freeze. The copy is good, also where the record of the freeze cannot be removed. */
  private void thaw(VolumeId id, Path mountPoint) {
    mounts.thaw(mountPoint);
    try {
      freezes.remove(id);
    } catch (StateException e) {
      LOG.atWarn()
          .addKeyValue("volume", id)
          .addKeyValue("cause", e.getMessage())
          .log(
              "The record of a freeze was not removed: the next start thaws the filesystem again.");
    }
  }

  private List<MountEntry> filesystems(Device device) {
    return users.mountsOf(device).stream()
        .filter(mount -> mount.number().equals(DeviceUsers.number(device)))
        .toList();
  }

  /** A process that has the device node of a raw block volume can write at any time. */
  private void refuseMountedNode(VolumeRecord source, Device device) {
    users.mountsOf(device).stream()
        .findFirst()
        .ifPresent(
            mount -> {
              throw new VolumeException.PreconditionFailed(
                  "volume %s is published as a raw block volume at %s, a copy would mix old and new data: stop the pods that use it"
                      .formatted(source.id(), mount.mountPoint()));
            });
  }

  private VolumeState withOwnUuid(VolumeRecord source, Device target) {
    return switch (source.state()) {
      case VolumeState.Formatted(Filesystem filesystem, Optional<Filesystem> _) ->
          relabel(target, filesystem.type());
      // what is in there belongs to its user
      case VolumeState.RawBlock _ -> new VolumeState.RawBlock();
      case VolumeState.Blank _, VolumeState.Legacy _ ->
          switch (signatures.probe(target.path())) {
            case Found.Signature(String type, String _)
                when Stream.of(FilesystemType.values())
                    .anyMatch(known -> known.text().equals(type)) ->
                relabel(target, type);
            case Found.Signature _, Found.Nothing _, Found.Unreadable _ ->
                new VolumeState.RawBlock();
          };
      case VolumeState.Creating _, VolumeState.Deleting _ ->
          throw new VolumeException.PreconditionFailed(
              "volume %s is not ready for use".formatted(source.id()));
    };
  }

  /** The filesystem may have been copied as a crash left it, so its log is replayed first. */
  private VolumeState relabel(Device target, String typeName) {
    FilesystemType type = FilesystemType.parse(typeName).orElseThrow();
    UUID uuid = UUID.randomUUID();
    switch (type) {
      case EXT4 -> {
        // tune2fs changes all checksums and wants a filesystem that was just checked
        run(
            Command.of("e2fsck", "-f", "-p", target.path().toString())
                .alsoAccepting(ERRORS_CORRECTED));
        run(Command.of("tune2fs", "-U", uuid.toString(), target.path().toString()));
      }
      case XFS -> {
        mounts.mountBriefly(target.path(), type, List.of("nouuid"));
        run(Command.of("xfs_admin", "-U", uuid.toString(), target.path().toString()));
      }
    }
    return new VolumeState.Formatted(new Filesystem(typeName, uuid));
  }

  private void run(Command command) {
    runner.run(command.within(Timeouts.WHOLE_DEVICE));
  }
}
