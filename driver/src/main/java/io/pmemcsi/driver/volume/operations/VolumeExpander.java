package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.store.Ledger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Expands the devices of volumes; {@code node.Expansion} then expands the filesystems on them. */
public final class VolumeExpander {
  private static final Logger LOG = LoggerFactory.getLogger(VolumeExpander.class);

  private final Volumes volumes;
  private final Ledger ledger;
  private final Devices devices;

  public VolumeExpander(Volumes volumes, Ledger ledger, Devices devices) {
    this.volumes = volumes;
    this.ledger = ledger;
    this.devices = devices;
  }

  /**
   * Expands the device of a volume, whose lock the caller holds, to at least the required size; one
   * that is large enough stays as it is.
   */
  public VolumeRecord expand(VolumeRecord volume, SizeRange size) {
    if (volume.sizeBytes() >= size.requiredBytes()) {
      refuseBeyondLimit(volume, "has", volume.sizeBytes(), size, ": volumes never shrink");
      return volume;
    }
    DeviceManager manager = volumes.manager(volume);
    long rounded = manager.roundedSize(volume.id(), size.requiredBytes());
    refuseBeyondLimit(volume, "would have", rounded, size, "");
    Device device = expandDevice(manager, volume, size.requiredBytes());
    VolumeRecord expanded = ledger.resize(volume, device.sizeBytes());
    devices.measure();
    LOG.atInfo()
        .addKeyValue("volume", expanded.id())
        .addKeyValue("size", expanded.sizeBytes())
        .log("Volume expanded.");
    return expanded;
  }

  /**
   * For kubelet a size that is out of range is a final answer: it reports it and lets the user
   * lower the claim's request again. With the code for a lack of space it would retry for ever.
   */
  private static Device expandDevice(DeviceManager manager, VolumeRecord volume, long bytes) {
    try {
      return manager.expand(volume.id(), bytes);
    } catch (DeviceException.NotEnoughSpace e) {
      throw new VolumeException.SizeOutOfRange(
          "volume %s keeps its %d bytes: %s; lower the request of its claim"
              .formatted(volume.id(), volume.sizeBytes(), e.getMessage()));
    } catch (DeviceException.Unsupported e) {
      throw new VolumeException.InvalidRequest(
          "volume %s keeps its %d bytes: %s; copy the data to a larger volume"
              .formatted(volume.id(), volume.sizeBytes(), e.getMessage()));
    }
  }

  private static void refuseBeyondLimit(
      VolumeRecord volume, String verb, long bytes, SizeRange size, String remark) {
    if (size.isExceededBy(bytes)) {
      throw new VolumeException.SizeOutOfRange(
          "volume %s %s %d bytes, more than limit_bytes %d%s"
              .formatted(volume.id(), verb, bytes, size.limitBytes(), remark));
    }
  }
}
