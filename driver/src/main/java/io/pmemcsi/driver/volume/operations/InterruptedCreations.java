package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;

/**
 * Commands that outlive the driver that started them. A device that such a command creates must
 * neither be created twice, in two volume groups for example, nor be left without a record.
 */
final class InterruptedCreations {
  private final Devices devices;

  InterruptedCreations(Devices devices) {
    this.devices = devices;
  }

  /** Refuses while a command is creating the device, and then reloads the devices. */
  void requireNoCommand(VolumeRecord volume, DeviceManager manager) {
    refuseRunning(volume);
    // one may have ended since the devices were listed, and what is cached is older
    manager.list();
  }

  void refuseRunning(VolumeRecord volume) {
    if (devices.isBeingCreated(volume.id())) {
      throw new VolumeException.Unfinished(
          "a command of an interrupted call is still creating the device of volume \"%s\", call again when it has ended"
              .formatted(volume.name()));
    }
  }
}
