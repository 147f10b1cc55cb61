package io.pmemcsi.driver.node;

import io.pmemcsi.driver.csi.CsiStatusException;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.operations.Volumes;
import io.pmemcsi.driver.volume.store.LedgerEntry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Mounts a volume once per node, for all pods that use it; and lets it grow there. */
public final class Staging {

  private static final Logger LOG = LoggerFactory.getLogger(Staging.class);
  private static final Duration GROW_TIMEOUT = Duration.ofMinutes(10);

  private final Volumes volumes;
  private final Formatter formatter;
  private final VolumeMounts mounts;
  private final DeviceUsers usages;
  private final CommandRunner runner;

  public Staging(
      Volumes volumes,
      Formatter formatter,
      VolumeMounts mounts,
      DeviceUsers usages,
      CommandRunner runner) {
    this.volumes = volumes;
    this.formatter = formatter;
    this.mounts = mounts;
    this.usages = usages;
    this.runner = runner;
  }

  /** Mounts a volume at its staging path. Raw block volumes need no staging. */
  public void stage(String volumeId, Path staging, Access access) {
    volumes.withLock(
        volumeId,
        id -> {
          LedgerEntry entry = volumes.require(volumeId);
          Device device = volumes.usable(entry);
          switch (access) {
            case Access.Block _ -> {}
            case Access.Mount mount -> stage(entry, device, staging, mount);
          }
          return id;
        });
  }

  private void stage(LedgerEntry entry, Device device, Path staging, Access.Mount mount) {
    if (mounts.isMounted(entry, device, staging, mount, false)) {
      mounts.finish(staging);
      return;
    }
    FilesystemType type = formatter.ensure(entry, device, mount.type());
    Paths.makeFolder(staging);
    mounts.mount(entry, device, staging, type, mount.flags());
    LOG.atInfo()
        .addKeyValue("volume", entry.id())
        .addKeyValue("path", staging)
        .log("Volume staged.");
  }

  /** Unmounts a volume from its staging path. */
  public void unstage(String volumeId, Path staging) {
    volumes.withLock(
        volumeId,
        id -> {
          Optional<DeviceNumber> number = Optional.empty();
          if (!volumes.isDamaged(volumeId)) {
            LedgerEntry entry = volumes.require(volumeId);
            number = volumes.deviceIfThere(entry).map(DeviceUsers::number);
          }
          // unmounting is safe even where the record of the volume is damaged
          mounts.unmountAll(staging, number);
          LOG.atInfo()
              .addKeyValue("volume", id)
              .addKeyValue("path", staging)
              .log("Volume unstaged.");
          return id;
        });
  }

  /** Lets the filesystem of a mounted volume fill its device; returns the device's size. */
  public long grow(String volumeId, Path path, SizeRange size) {
    return volumes.withLock(
        volumeId,
        id -> {
          LedgerEntry entry = volumes.require(volumeId);
          Device device = volumes.usable(entry);
          MountEntry mount =
              usages.mountsOf(device).stream()
                  .filter(there -> there.mountPoint().equals(path))
                  .findFirst()
                  .orElseThrow(
                      () ->
                          CsiStatusException.notFound(
                              "volume %s is not mounted at %s".formatted(id, path)));
          if (device.sizeBytes() < size.requiredBytes()) {
            throw CsiStatusException.precondition(
                "volume %s has %d bytes, not %d: call ControllerExpandVolume first"
                    .formatted(id, device.sizeBytes(), size.requiredBytes()));
          }
          // a raw block volume is mounted as a node of the filesystem that /dev is
          FilesystemType.parse(mount.type())
              .filter(_ -> mount.number().equals(DeviceUsers.number(device)))
              .ifPresent(
                  type ->
                      runner.run(Command.of(type.grow(device.path(), path)).within(GROW_TIMEOUT)));
          return device.sizeBytes();
        });
  }
}
