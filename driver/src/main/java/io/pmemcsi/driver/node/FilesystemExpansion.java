package io.pmemcsi.driver.node;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.operations.Volumes;
import java.nio.file.Path;

/** Expands the filesystem of a mounted volume to the size of its device. */
public final class FilesystemExpansion {
  private final Volumes volumes;
  private final DeviceUsers users;
  private final CommandRunner runner;

  public FilesystemExpansion(Volumes volumes, DeviceUsers users, CommandRunner runner) {
    this.volumes = volumes;
    this.users = users;
    this.runner = runner;
  }

  /** Expands the filesystem at a path; returns the size of the device. */
  public long expand(String volumeId, Path path, SizeRange size) {
    return volumes.withVolume(volumeId, lookup -> expand(lookup.require(), path, size));
  }

  private long expand(VolumeRecord volume, Path path, SizeRange size) {
    Device device = volumes.usableDevice(volume);
    MountEntry mount =
        users.mountsOf(device).stream()
            .filter(there -> there.mountPoint().equals(path))
            .findFirst()
            .orElseThrow(
                () ->
                    new VolumeException.NotFound(
                        "volume %s is not mounted at %s".formatted(volume.id(), path)));
    if (device.sizeBytes() < size.requiredBytes()) {
      throw new VolumeException.PreconditionFailed(
          "volume %s has %d bytes, not %d: call ControllerExpandVolume first"
              .formatted(volume.id(), device.sizeBytes(), size.requiredBytes()));
    }
    // a raw block volume is mounted as a node of the filesystem that /dev is
    FilesystemType.parse(mount.type())
        .filter(_ -> mount.number().equals(DeviceUsers.number(device)))
        .ifPresent(
            type ->
                runner.run(
                    Command.of(type.expand(device.path(), path)).within(Timeouts.WHOLE_DEVICE)));
    return device.sizeBytes();
  }
}
