package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;
import java.util.Optional;

/**
 * Commands that outlive the driver that started them. A device that such a command creates must
 * neither be created twice, in two volume groups for example, nor be left without a record.
 */
final class InterruptedCreations {
  private final Devices devices;
  private final DeviceUsers users;

  InterruptedCreations(Devices devices, DeviceUsers users) {
    this.devices = devices;
    this.users = users;
  }

  /** Refuses while a command is creating the device, and then reloads the devices. */
  void requireNoCommand(VolumeRecord volume, DeviceManager manager) {
    refuseCreating(volume);
    // one may have ended since the devices were listed, and what is cached is older
    manager.list();
    refuseWriting(volume, manager.find(volume.id()));
  }

  /**
   * Refuses while a command is creating the device or writes to it.
   *
   * @param device empty if there is none as far as the caller knows
   */
  void refuseRunning(VolumeRecord volume, Optional<Device> device) {
    refuseCreating(volume);
    refuseWriting(volume, device);
  }

  /** The name of a deleted device can be given to the next one, which it would overwrite. */
  private void refuseWriting(VolumeRecord volume, Optional<Device> device) {
    device
        .flatMap(users::orphan)
        .ifPresent(
            orphan -> {
              throw new VolumeException.Unfinished(
                  "volume \"%s\": %s".formatted(volume.name(), orphan));
            });
  }

  private void refuseCreating(VolumeRecord volume) {
    if (devices.isBeingCreated(volume.id())) {
      throw new VolumeException.Unfinished(
          "a command of an interrupted call is still creating the device of volume \"%s\", call again when it has ended"
              .formatted(volume.name()));
    }
  }
}
