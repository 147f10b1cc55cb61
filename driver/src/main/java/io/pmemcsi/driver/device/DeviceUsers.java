package io.pmemcsi.driver.device;

import io.pmemcsi.driver.linux.block.BlockDevices;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.Mounts;
import io.pmemcsi.driver.volume.store.LedgerEntry;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Who uses a device: our mounts, and anybody else the kernel knows of. */
public final class DeviceUsers {

  private final Mounts mounts;

  public DeviceUsers(Mounts mounts) {
    this.mounts = mounts;
  }

  /** Throws when the device of a volume is mounted or held by somebody. */
  public void refuseInUse(LedgerEntry entry, DeviceManager manager) {
    Optional<Device> device = manager.find(entry.id());
    if (device.isEmpty()) {
      return;
    }
    List<MountEntry> mounted = mountsOf(device.get());
    if (!mounted.isEmpty()) {
      throw new DeviceException.InUse(
          entry.id(),
          "mounted at "
              + mounted.stream()
                  .map(mount -> mount.mountPoint().toString())
                  .collect(Collectors.joining(", ")));
    }
    refuseHeld(device.get());
  }

  /** Throws when anybody, in whatever mount namespace, uses a device. */
  public void refuseHeld(Device device) {
    try (BlockDevices.Hold _ = BlockDevices.holdExclusively(device.path())) {
      // free
    } catch (BlockDevices.BusyException e) {
      throw new DeviceException.InUse(device.id(), String.valueOf(e.getMessage()));
    } catch (IOException e) {
      throw new DeviceException.ToolFailed("open " + device.path(), e);
    }
  }

  /** All mounts of a device's filesystem and of its node. */
  public List<MountEntry> mountsOf(Device device) {
    return mounts.table().of(number(device));
  }

  /** The number by which mount tables call a device. */
  public static DeviceNumber number(Device device) {
    try {
      return DeviceNumber.of(device.path());
    } catch (IOException e) {
      throw new DeviceException.ToolFailed("look at " + device.path(), e);
    }
  }
}
