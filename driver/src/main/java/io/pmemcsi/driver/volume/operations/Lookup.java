package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;

/** What the volume ID of a request refers to; resolved once per call, under the volume's lock. */
public sealed interface Lookup {
  VolumeId id();

  /** A volume of this driver. */
  record Known(VolumeRecord volume) implements Lookup {
    @Override
    public VolumeId id() {
      return volume.id();
    }
  }

  /** A volume whose record cannot be read. */
  record Damaged(VolumeId id, String why) implements Lookup {
    VolumeException blocked() {
      return new VolumeException.PreconditionFailed(
          "volume %s is blocked because its record is damaged: %s. Repair or remove the file and restart the driver"
              .formatted(id, why));
    }
  }

  /**
   * No volume of this driver.
   *
   * @param requested as the caller wrote it
   */
  record Unknown(VolumeId id, String requested) implements Lookup {}

  /** The volume, or the reason why it cannot be used. */
  default VolumeRecord require() {
    return switch (this) {
      case Known(VolumeRecord volume) -> volume;
      case Damaged damaged -> throw damaged.blocked();
      case Unknown(VolumeId _, String requested) ->
          throw new VolumeException.NotFound("volume \"%s\" does not exist".formatted(requested));
    };
  }
}
