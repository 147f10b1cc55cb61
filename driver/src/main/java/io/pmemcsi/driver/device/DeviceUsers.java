package io.pmemcsi.driver.device;

import io.pmemcsi.driver.linux.block.BlockDevices;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.Mounts;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Who uses a device: mounts that this driver sees, and any other user that the kernel knows. */
public final class DeviceUsers {
  private final Mounts mounts;
  private final OrphanedWriters orphans =
      new OrphanedWriters(OrphanedCommands.HERE, ProcessRunner::kills);

  public DeviceUsers(Mounts mounts) {
    this.mounts = mounts;
  }

  /** Throws when a device is mounted or held. */
  public void refuseInUse(Device device) {
    List<MountEntry> mounted = mountsOf(device);
    if (!mounted.isEmpty()) {
      throw new DeviceException.InUse(
          device.id(),
          "mounted at "
              + mounted.stream()
                  .map(mount -> mount.mountPoint().toString())
                  .collect(Collectors.joining(", ")));
    }
    refuseHeld(device);
  }

  /** Throws when a process, in whichever mount namespace, holds a device or is about to. */
  public void refuseHeld(Device device) {
    refuseOrphans(device);
    try (BlockDevices.Hold _ = BlockDevices.holdExclusively(device.path())) {
      // free
    } catch (BlockDevices.BusyException e) {
      throw new DeviceException.InUse(device.id(), String.valueOf(e.getMessage()));
    } catch (IOException e) {
      throw new DeviceException.ToolFailed("open " + device.path(), e);
    }
  }

  /**
   * Throws when a command of a driver that was killed may still write to a device: it would destroy
   * what is written from now on.
   */
  public void refuseOrphans(Device device) {
    orphan(device)
        .ifPresent(
            orphan -> {
              throw new DeviceException.InUse(device.id(), orphan);
            });
  }

  /** Says which command of an interrupted call may still write to a device, if one does. */
  public Optional<String> orphan(Device device) {
    return orphans
        .writerOf(device.path())
        .map(
            command ->
                "%s of an interrupted call still runs for %s, call again when it has ended"
                    .formatted(command, device.path()));
  }

  /**
   * Throws when the filesystem on a device is mounted: a pod that writes to the device itself would
   * destroy it.
   */
  public void refuseMounted(Device device) {
    DeviceNumber number = number(device);
    refuse(device, "its filesystem is mounted at ", mount -> mount.number().equals(number));
  }

  /** Throws when a pod has the device itself, so that its filesystem must not be mounted. */
  public void refuseRawBlock(Device device) {
    DeviceNumber number = number(device);
    refuse(device, "published as a raw block volume at ", m -> !m.number().equals(number));
  }

  private void refuse(Device device, String how, Predicate<MountEntry> conflicting) {
    mountsOf(device).stream()
        .filter(conflicting)
        .findFirst()
        .ifPresent(
            mount -> {
              throw new DeviceException.InUse(device.id(), how + mount.mountPoint());
            });
  }

  /** All mounts of a device's filesystem and of its node. */
  public List<MountEntry> mountsOf(Device device) {
    return mounts.table().of(number(device));
  }

  /** The number of a device, unless it has vanished. */
  public static Optional<DeviceNumber> numberIfExists(Device device) {
    try {
      return BlockDevices.isBlockDevice(device.path())
          ? Optional.of(DeviceNumber.of(device.path()))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty(); // removed at this moment
    }
  }

  /** The number by which mount tables know a device. */
  public static DeviceNumber number(Device device) {
    try {
      return DeviceNumber.of(device.path());
    } catch (IOException e) {
      throw new DeviceException.ToolFailed("stat " + device.path(), e);
    }
  }
}
