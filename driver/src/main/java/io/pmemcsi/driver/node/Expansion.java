package io.pmemcsi.driver.node;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.operations.VolumeExpander;
import io.pmemcsi.driver.volume.operations.Volumes;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Expands volumes in use: first the device, then the filesystem on it. Whichever step a crash hits,
 * the same call resumes from there.
 *
 * <p>The node does all of it, because only it has the device: a leader-elected external-resizer
 * would call ControllerExpandVolume on any node. Without that call it only updates the objects, and
 * kubelet calls the right node.
 */
public final class Expansion {
  private final Volumes volumes;
  private final VolumeExpander expander;
  private final DeviceUsers users;
  private final CommandRunner runner;

  public Expansion(
      Volumes volumes, VolumeExpander expander, DeviceUsers users, CommandRunner runner) {
    this.volumes = volumes;
    this.expander = expander;
    this.users = users;
    this.runner = runner;
  }

  /** Expands the volume that is mounted at a path; returns the size of its device. */
  public long expand(String volumeId, Path path, SizeRange size) {
    return volumes.withVolume(volumeId, lookup -> expand(lookup.require(), path, size));
  }

  private long expand(VolumeRecord volume, Path path, SizeRange size) {
    if (volume.parameters().kataContainers()) {
      // kubelet reports this code in an event; it keeps FAILED_PRECONDITION to itself
      throw new VolumeException.InvalidRequest(
          "volume %s holds an image file for Kata Containers, which a virtual machine has mapped and which cannot be expanded: copy the data to a larger volume"
              .formatted(volume.id()));
    }
    Device before = volumes.usableDevice(volume);
    List<MountEntry> mounts = users.mountsOf(before);
    if (mounts.stream().noneMatch(mount -> mount.mountPoint().equals(path))) {
      throw new VolumeException.NotFound(
          "volume %s is not mounted at %s".formatted(volume.id(), path));
    }
    // of a raw block volume the node is mounted, which is part of the filesystem that /dev is
    DeviceNumber number = DeviceUsers.number(before);
    List<MountEntry> filesystems =
        mounts.stream().filter(mount -> mount.number().equals(number)).toList();
    Optional<MountEntry> writable =
        filesystems.stream().filter(mount -> !mount.isReadOnly()).findFirst();
    if (!filesystems.isEmpty() && writable.isEmpty()) {
      throw new VolumeException.PreconditionFailed(
          "volume %s is mounted read-only, its filesystem cannot be expanded: mount it writable"
              .formatted(volume.id()));
    }
    VolumeRecord expanded = expander.expand(volume, size);
    // also where the device is large enough: an earlier call may have stopped in between
    writable.ifPresent(mount -> expandFilesystem(before, mount));
    return expanded.sizeBytes();
  }

  private void expandFilesystem(Device device, MountEntry mount) {
    FilesystemType.parse(mount.type())
        .map(type -> Command.of(type.expand(device.path(), mount.mountPoint())))
        .ifPresent(command -> runner.run(command.within(Timeouts.WHOLE_DEVICE)));
  }
}
