package io.pmemcsi.driver.node;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.operations.Lookup;
import io.pmemcsi.driver.volume.operations.Volumes;
import java.nio.file.Path;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Mounts a volume once per node, for all pods that use it. */
public final class Staging {
  private static final Logger LOG = LoggerFactory.getLogger(Staging.class);

  private final Volumes volumes;
  private final Formatter formatter;
  private final VolumeMounts mounts;

  public Staging(Volumes volumes, Formatter formatter, VolumeMounts mounts) {
    this.volumes = volumes;
    this.formatter = formatter;
    this.mounts = mounts;
  }

  /** Mounts a volume at its staging path. Raw block volumes need no staging. */
  public void stage(String volumeId, Path staging, Access access) {
    volumes.withVolume(
        volumeId,
        lookup -> {
          VolumeRecord volume = lookup.require();
          Device device = volumes.usableDevice(volume);
          switch (access) {
            case Access.Block _ -> {}
            case Access.Mount mount -> stage(volume, device, staging, mount);
          }
          return lookup;
        });
  }

  private void stage(VolumeRecord volume, Device device, Path staging, Access.Mount mount) {
    if (mounts.isMounted(volume, device, staging, mount, false)) {
      mounts.finish(staging);
      return;
    }
    Formatter.Result formatted = formatter.ensure(volume, device, mount.type());
    MountPoints.createDirectory(staging);
    mounts.mount(volume, device, staging, formatted.type(), mount.flags());
    LOG.atInfo()
        .addKeyValue("volume", volume.id())
        .addKeyValue("path", staging)
        .log("Volume staged.");
  }

  /** Unmounts a volume from its staging path. */
  public void unstage(String volumeId, Path staging) {
    volumes.withVolume(
        volumeId,
        lookup -> {
          // unmounting is safe even where the record of the volume is damaged
          mounts.unmountAll(
              staging,
              switch (lookup) {
                case Lookup.Damaged _ -> Optional.<DeviceNumber>empty();
                case Lookup.Known _, Lookup.Unknown _ ->
                    volumes.device(lookup.require()).map(DeviceUsers::number);
              });
          LOG.atInfo()
              .addKeyValue("volume", lookup.id())
              .addKeyValue("path", staging)
              .log("Volume unstaged.");
          return lookup;
        });
  }
}
