package io.pmemcsi.driver.node;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.linux.block.Signatures;
import io.pmemcsi.driver.linux.block.Signatures.Found;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.VolumeState.Filesystem;
import io.pmemcsi.driver.volume.operations.Volumes;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ensures that a volume holds a filesystem, and that it is formatted at most once in its life.
 *
 * <p>Other drivers format whatever looks empty to them. An unreadable superblock, a device that is
 * not ready or a tool that was killed look empty, too. Here the ledger decides, and the device only
 * has to agree with it.
 */
public final class Formatter {

  private static final Logger LOG = LoggerFactory.getLogger(Formatter.class);
  private final Volumes volumes;
  private final Signatures signatures;
  private final DeviceUsers users;
  private final CommandRunner runner;

  public Formatter(
      Volumes volumes, Signatures signatures, DeviceUsers users, CommandRunner runner) {
    this.volumes = volumes;
    this.signatures = signatures;
    this.users = users;
    this.runner = runner;
  }

  /**
   * A volume with a filesystem.
   *
   * @param volume with its state after formatting
   */
  record Result(VolumeRecord volume, FilesystemType type) {}

  /** The filesystem of a volume, created now if the volume is blank. */
  Result ensure(VolumeRecord volume, Device device, Optional<FilesystemType> requested) {
    return switch (volume.state()) {
      case VolumeState.Formatted(Filesystem expected, Optional<Filesystem> _) ->
          new Result(
              volume, check(volume).recorded(expected, signatures.probe(device.path()), requested));
      case VolumeState.Blank(Optional<UUID> planned) -> first(volume, device, planned, requested);
      case VolumeState.RawBlock _ ->
          new Result(
              volume,
              type(
                  check(volume)
                      .unrecorded(
                          "a filesystem (it was used as a raw block volume)",
                          signatures.probe(device.path()),
                          requested)));
      case VolumeState.Legacy _ -> adoptLegacy(volume, signatures.probe(device.path()), requested);
      case VolumeState.Creating _, VolumeState.Deleting _ ->
          throw new VolumeException.PreconditionFailed(
              "volume %s is not ready for use".formatted(volume.id()));
    };
  }

  /** Formats a volume that was never published, as far as this driver knows. */
  private Result first(
      VolumeRecord volume,
      Device device,
      Optional<UUID> planned,
      Optional<FilesystemType> requested) {
    // this driver has not published it, so any user is another program
    users.refuseHeld(device);
    if (signatures.isUntouched(device.path())) {
      return format(volume, device, planned, requested, false);
    }
    return switch (SignatureOrigin.classify(planned, signatures.probe(device.path()))) {
      case SignatureOrigin.Own _ -> format(volume, device, planned, requested, true);
      case SignatureOrigin.NotOwned(Found.Signature found) -> adopt(volume, found, requested);
      case SignatureOrigin.Unknown(Found found) ->
          throw new VolumeException.PreconditionFailed(
              "volume %s was never used by this driver, but holds %s: it is not formatted. Delete the volume, or clear the device with \"wipefs --all %s\" if its content is not needed"
                  .formatted(volume.id(), found, device.path()));
    };
  }

  /** Another release of the driver has used the volume since its creation. */
  private Result adopt(
      VolumeRecord volume, Found.Signature found, Optional<FilesystemType> requested) {
    check(volume).unrecorded("a filesystem", found, requested);
    LOG.atWarn()
        .addKeyValue("volume", volume.id())
        .addKeyValue("filesystem", found)
        .log("Another program has formatted this volume since its creation, using it.");
    return recorded(volume, found);
  }

  /** A volume of the original driver, which does not record whether it was formatted. */
  private Result adoptLegacy(VolumeRecord volume, Found found, Optional<FilesystemType> requested) {
    Found.Signature signature =
        check(volume).unrecorded("a filesystem (created by an earlier release)", found, requested);
    LOG.atInfo()
        .addKeyValue("volume", volume.id())
        .addKeyValue("filesystem", signature)
        .log("Filesystem found that was not created by this driver, using it.");
    return recorded(volume, signature);
  }

  private Result recorded(VolumeRecord volume, Found.Signature found) {
    Filesystem filesystem = check(volume).identified(found);
    return new Result(volumes.setState(volume, new VolumeState.Formatted(filesystem)), type(found));
  }

  private Result format(
      VolumeRecord volume,
      Device device,
      Optional<UUID> planned,
      Optional<FilesystemType> requested,
      boolean wipe) {
    FilesystemType type = requested.orElse(FilesystemType.EXT4);
    if (device.sizeBytes() < type.minimumBytes()) {
      throw new VolumeException.PreconditionFailed(
          "volume %s has %d bytes, %s needs at least %d"
              .formatted(volume.id(), device.sizeBytes(), type.text(), type.minimumBytes()));
    }
    if (wipe) {
      signatures.wipe(device.path());
    }
    Filesystem filesystem = new Filesystem(type.text(), planned.orElseGet(UUID::randomUUID));
    runner.run(
        Command.of(type.mkfs(device.path(), device.sizeBytes(), filesystem.uuid()))
            .within(Timeouts.WHOLE_DEVICE));
    VolumeRecord formatted = volumes.setState(volume, new VolumeState.Formatted(filesystem));
    LOG.atInfo()
        .addKeyValue("volume", volume.id())
        .addKeyValue("filesystem", filesystem)
        .log("Volume formatted.");
    return new Result(formatted, type);
  }

  /** Whether a volume is as it was created, so that nothing is lost with it. */
  boolean isUntouched(VolumeRecord volume) {
    return volume.state() instanceof VolumeState.Blank
        && volumes
            .device(volume)
            .filter(device -> signatures.isUntouched(device.path()))
            .isPresent();
  }

  /** Marks a blank volume as used raw: from now on its content belongs to its user. */
  void recordRawUse(VolumeRecord volume, Device device) {
    if (volume.state() instanceof VolumeState.Blank) {
      users.refuseOrphans(device);
      // durable before a pod can write to the device, so that it is never formatted later
      volumes.setState(volume, new VolumeState.RawBlock());
    }
  }

  private static FilesystemType type(Found.Signature checked) {
    return FilesystemType.parse(checked.type()).orElseThrow();
  }

  private static FilesystemCheck check(VolumeRecord volume) {
    return new FilesystemCheck("volume " + volume.id());
  }
}
