package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.store.Ledger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Expands the devices of volumes; the filesystems on them are expanded by the node service. */
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

  /** Expands a volume to at least the required size; one that is large enough stays as it is. */
  public VolumeRecord expand(String volumeId, SizeRange size) {
    return volumes.withVolume(volumeId, lookup -> expand(lookup.require(), size));
  }

  private VolumeRecord expand(VolumeRecord volume, SizeRange size) {
    if (volume.parameters().kataContainers()) {
      throw new VolumeException.PreconditionFailed(
          "volume %s holds a Kata image file, which cannot be expanded".formatted(volume.id()));
    }
    if (volume.sizeBytes() >= size.requiredBytes()) {
      refuseBeyondLimit(volume, "has", volume.sizeBytes(), size, ": volumes never shrink");
      return volume;
    }
    volumes.usableDevice(volume);
    DeviceManager manager = volumes.manager(volume);
    long rounded = manager.roundedSize(volume.id(), size.requiredBytes());
    refuseBeyondLimit(volume, "would have", rounded, size, "");
    Device device = manager.expand(volume.id(), size.requiredBytes());
    VolumeRecord expanded = ledger.resize(volume, device.sizeBytes());
    devices.measure();
    LOG.atInfo()
        .addKeyValue("volume", expanded.id())
        .addKeyValue("size", expanded.sizeBytes())
        .log("Volume expanded.");
    return expanded;
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
