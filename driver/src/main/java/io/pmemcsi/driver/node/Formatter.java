package io.pmemcsi.driver.node;

import io.pmemcsi.driver.csi.CsiStatusException;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.linux.block.Signatures;
import io.pmemcsi.driver.linux.block.Signatures.Found;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.VolumeState.Filesystem;
import io.pmemcsi.driver.volume.operations.Volumes;
import io.pmemcsi.driver.volume.store.LedgerEntry;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that a volume holds a filesystem, and that it is formatted at most once in its life.
 *
 * <p>Other drivers format whatever looks empty to them. An unreadable superblock, a device that is
 * not quite there or a tool that was killed look empty, too. Here the ledger decides, and the
 * device only has to agree with it.
 */
public final class Formatter {

  private static final Logger LOG = LoggerFactory.getLogger(Formatter.class);
  private static final Duration MKFS_TIMEOUT = Duration.ofMinutes(10);

  private final Volumes volumes;
  private final Signatures signatures;
  private final DeviceUsers usages;
  private final CommandRunner runner;

  public Formatter(
      Volumes volumes, Signatures signatures, DeviceUsers usages, CommandRunner runner) {
    this.volumes = volumes;
    this.signatures = signatures;
    this.usages = usages;
    this.runner = runner;
  }

  /** The filesystem of a volume, made now if the volume is fresh. */
  FilesystemType ensure(LedgerEntry entry, Device device, Optional<FilesystemType> wanted) {
    Optional<VolumeState> recorded = volumes.contents(entry);
    if (recorded.isEmpty()) {
      return adoptLegacy(entry, signatures.probe(device.path()), wanted);
    }
    return switch (recorded.get()) {
      case VolumeState.Formatted(Filesystem expected, Optional<Filesystem> _) ->
          check(entry).recorded(expected, signatures.probe(device.path()), wanted);
      case VolumeState.Blank(Optional<UUID> planned) -> first(entry, device, planned, wanted);
      case VolumeState.RawBlock _ -> useOfBlockUser(entry, signatures.probe(device.path()), wanted);
      case VolumeState.Creating _, VolumeState.Deleting _ ->
          throw CsiStatusException.precondition("volume %s is not whole".formatted(entry.id()));
    };
  }

  /** Formats a volume that nobody was given yet, as far as this driver knows. */
  private FilesystemType first(
      LedgerEntry entry, Device device, Optional<UUID> planned, Optional<FilesystemType> wanted) {
    // whoever has it now was not given it by this driver
    usages.refuseHeld(device);
    if (signatures.isUntouched(device.path())) {
      return format(entry, device, planned, wanted, false);
    }
    return switch (SignatureOrigin.judge(planned, signatures.probe(device.path()))) {
      case SignatureOrigin.Ours _ -> format(entry, device, planned, wanted, true);
      case SignatureOrigin.Foreign(Found.Signature there) -> adopt(entry, there, wanted);
      case SignatureOrigin.Unknown(Found there) ->
          throw CsiStatusException.precondition(
              "volume %s was never used by this driver, but holds %s: it is left alone. Delete the volume, or clear the device with \"wipefs --all %s\" if nobody needs what is there"
                  .formatted(entry.id(), there, device.path()));
    };
  }

  /** Another release of the driver has used the volume meanwhile. */
  private FilesystemType adopt(
      LedgerEntry entry, Found.Signature there, Optional<FilesystemType> wanted) {
    check(entry).unrecorded("a filesystem", there, wanted);
    volumes.record(entry, new VolumeState.Formatted(check(entry).identified(there)));
    LOG.atWarn()
        .addKeyValue("volume", entry.id())
        .addKeyValue("filesystem", there)
        .log("Somebody else has made a filesystem on this volume since its creation, using it.");
    return type(there);
  }

  private FilesystemType format(
      LedgerEntry entry,
      Device device,
      Optional<UUID> planned,
      Optional<FilesystemType> wanted,
      boolean debris) {
    FilesystemType type = wanted.orElse(FilesystemType.EXT4);
    if (device.sizeBytes() < type.minimumBytes()) {
      throw CsiStatusException.precondition(
          "volume %s has %d bytes, %s needs at least %d"
              .formatted(entry.id(), device.sizeBytes(), type.text(), type.minimumBytes()));
    }
    if (debris) {
      signatures.wipe(device.path());
    }
    Filesystem filesystem = new Filesystem(type.text(), planned.orElseGet(UUID::randomUUID));
    runner.run(
        Command.of(type.mkfs(device.path(), device.sizeBytes(), filesystem.uuid()))
            .within(MKFS_TIMEOUT));
    volumes.record(entry, new VolumeState.Formatted(filesystem));
    LOG.atInfo()
        .addKeyValue("volume", entry.id())
        .addKeyValue("filesystem", filesystem)
        .log("Volume formatted.");
    return type;
  }

  /** Whether a volume is as it was made, so that nothing is lost with it. */
  boolean isUntouched(LedgerEntry entry) {
    return volumes.contents(entry).filter(there -> there instanceof VolumeState.Blank).isPresent()
        && volumes
            .deviceIfThere(entry)
            .filter(device -> signatures.isUntouched(device.path()))
            .isPresent();
  }

  /** Gives a fresh volume to a user of the raw device: from now on the content is theirs. */
  void handOutRaw(LedgerEntry entry) {
    if (volumes.contents(entry).orElse(null) instanceof VolumeState.Blank) {
      // durable before anybody can write to the device, so that it is never formatted later
      volumes.record(entry, new VolumeState.RawBlock());
    }
  }

  /** A volume of the original driver: it never says whether it was formatted. */
  private FilesystemType adoptLegacy(
      LedgerEntry entry, Found found, Optional<FilesystemType> wanted) {
    Found.Signature there =
        check(entry).unrecorded("a filesystem (made by an earlier release)", found, wanted);
    volumes.record(entry, new VolumeState.Formatted(check(entry).identified(there)));
    LOG.atInfo()
        .addKeyValue("volume", entry.id())
        .addKeyValue("filesystem", there)
        .log("Filesystem found that was not made by this driver, using it.");
    return type(there);
  }

  private static FilesystemType useOfBlockUser(
      LedgerEntry entry, Found found, Optional<FilesystemType> wanted) {
    return type(
        check(entry).unrecorded("a filesystem (it was used as a raw block volume)", found, wanted));
  }

  private static FilesystemType type(Found.Signature checked) {
    return FilesystemType.parse(checked.type()).orElseThrow();
  }

  private static FilesystemCheck check(LedgerEntry entry) {
    return new FilesystemCheck("volume " + entry.id());
  }
}
