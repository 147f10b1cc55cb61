package io.pmemcsi.driver.node;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.volume.Origin;
import io.pmemcsi.driver.volume.VolumeException;
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
  private final DeviceUsers users;
  private final ProtectedPaths paths;
  private final CommandRunner runner;

  public Staging(
      Volumes volumes,
      Formatter formatter,
      VolumeMounts mounts,
      DeviceUsers users,
      ProtectedPaths paths,
      CommandRunner runner) {
    this.volumes = volumes;
    this.formatter = formatter;
    this.mounts = mounts;
    this.users = users;
    this.paths = paths;
    this.runner = runner;
  }

  /** Mounts a volume at its staging path. Raw block volumes need no staging. */
  public void stage(String volumeId, Path staging, Access access) {
    paths.refuse(staging);
    volumes.withVolume(
        volumeId,
        lookup -> {
          VolumeRecord volume = lookup.require();
          Device device = volumes.usableDevice(volume);
          switch (access) {
            case Access.Block _ -> stageBlock(volume, device, staging);
            case Access.Mount mount -> stage(volume, device, staging, mount);
          }
          return lookup;
        });
  }

  /** Nothing is mounted: the device itself is published. */
  private void stageBlock(VolumeRecord volume, Device device, Path staging) {
    KataVolumes.refuseBlock(volume);
    if (mounts.isMountedAt(device, staging)) {
      throw new VolumeException.Incompatible(
          "volume %s is staged at %s as a filesystem, requested: raw block"
              .formatted(volume.id(), staging));
    }
    users.refuseMounted(device);
  }

  private void stage(VolumeRecord volume, Device device, Path staging, Access.Mount mount) {
    if (mounts.isMounted(volume, device, staging, mount, false)) {
      mounts.finish(staging);
      // an earlier call may have stopped between mounting and expanding
      expandCopy(volume, device, staging);
      return;
    }
    VolumeMounts.refuseImpossibleDax(volume, mount);
    users.refuseRawBlock(device);
    Formatter.Result formatted = formatter.ensure(volume, device, mount.type());
    MountPoints.createDirectory(staging);
    mounts.mount(volume, device, staging, formatted.type(), mount.flags());
    expandCopy(volume, device, staging);
    LOG.atInfo()
        .addKeyValue("volume", volume.id())
        .addKeyValue("path", staging)
        .log("Volume staged.");
  }

  /** A copy may be larger than its source, whose filesystem it has. */
  private void expandCopy(VolumeRecord volume, Device device, Path staging) {
    if (!(volume.origin() instanceof Origin.Blank)) {
      mounts
          .writableType(staging)
          .map(type -> Command.of(type.expand(device.path(), staging)))
          .ifPresent(command -> runner.run(command.within(Timeouts.WHOLE_DEVICE)));
    }
  }

  /** Unmounts a volume from its staging path. */
  public void unstage(String volumeId, Path staging) {
    paths.refuse(staging);
    volumes.withVolume(
        volumeId,
        lookup -> {
          // unmounting is safe even where the record of the volume is damaged
          mounts.unmountAll(
              staging,
              switch (lookup) {
                case Lookup.Damaged _ -> Optional.<DeviceNumber>empty();
                case Lookup.Known _, Lookup.Unknown _ ->
                    volumes.device(lookup.require()).flatMap(DeviceUsers::numberIfExists);
              });
          LOG.atInfo()
              .addKeyValue("volume", lookup.id())
              .addKeyValue("path", staging)
              .log("Volume unstaged.");
          return lookup;
        });
  }
}
