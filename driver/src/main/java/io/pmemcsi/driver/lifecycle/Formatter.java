package io.pmemcsi.driver.lifecycle;

import io.pmemcsi.driver.command.Command;
import io.pmemcsi.driver.command.CommandRunner;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.mount.FilesystemType;
import io.pmemcsi.driver.mount.Signatures;
import io.pmemcsi.driver.mount.Signatures.Found;
import io.pmemcsi.driver.volume.Contents;
import io.pmemcsi.driver.volume.Contents.Filesystem;
import io.pmemcsi.driver.volume.LedgerEntry;
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
  private final Usages usages;
  private final CommandRunner runner;

  public Formatter(Volumes volumes, Signatures signatures, Usages usages, CommandRunner runner) {
    this.volumes = volumes;
    this.signatures = signatures;
    this.usages = usages;
    this.runner = runner;
  }

  /** The filesystem of a volume, made now if the volume is fresh. */
  FilesystemType ensure(LedgerEntry entry, Device device, Optional<FilesystemType> wanted) {
    Optional<Contents> recorded = volumes.contents(entry);
    if (recorded.isEmpty()) {
      return adoptLegacy(entry, signatures.probe(device.path()), wanted);
    }
    return switch (recorded.get()) {
      case Contents.Formatted(Filesystem expected, Optional<String> _) ->
          expect(entry, expected, signatures.probe(device.path()), wanted);
      // handed out to nobody: a filesystem there is a stray one, or mkfs was interrupted
      case Contents.Blank _, Contents.Formatting _ -> format(entry, device, wanted);
      case Contents.RawBlock _ -> useOfBlockUser(entry, signatures.probe(device.path()), wanted);
      case Contents.Creating _, Contents.Deleting _ ->
          throw RefusedException.precondition("volume %s is not whole".formatted(entry.id()));
    };
  }

  private FilesystemType format(LedgerEntry entry, Device device, Optional<FilesystemType> wanted) {
    FilesystemType type = wanted.orElse(FilesystemType.EXT4);
    if (device.sizeBytes() < type.minimumBytes()) {
      throw RefusedException.precondition(
          "volume %s has %d bytes, %s needs at least %d"
              .formatted(entry.id(), device.sizeBytes(), type.text(), type.minimumBytes()));
    }
    wipe(entry, device);
    Filesystem filesystem = new Filesystem(type.text(), UUID.randomUUID());
    runner.run(
        Command.of(type.mkfs(device.path(), device.sizeBytes(), filesystem.uuid()))
            .within(MKFS_TIMEOUT));
    volumes.record(entry, new Contents.Formatted(filesystem));
    LOG.atInfo()
        .addKeyValue("volume", entry.id())
        .addKeyValue("filesystem", filesystem)
        .log("Volume formatted.");
    return type;
  }

  /** Gives a fresh volume to a user of the raw device: from now on the content is theirs. */
  void handOutRaw(LedgerEntry entry, Device device) {
    boolean fresh =
        volumes
            .contents(entry)
            .filter(
                there -> there instanceof Contents.Blank || there instanceof Contents.Formatting)
            .isPresent();
    if (fresh) {
      wipe(entry, device);
      // durable before anybody can write to the device, so that it is never formatted later
      volumes.record(entry, new Contents.RawBlock());
    }
  }

  /**
   * What is on a volume that nobody was given yet belongs to nobody, and could mislead its user.
   */
  private void wipe(LedgerEntry entry, Device device) {
    usages.refuseHeld(device);
    if (signatures.wipe(device.path())) {
      LOG.atWarn()
          .addKeyValue("volume", entry.id())
          .log("There was something on this volume that nobody was given yet: it is wiped.");
    }
  }

  private static FilesystemType expect(
      LedgerEntry entry, Filesystem expected, Found found, Optional<FilesystemType> wanted) {
    FilesystemType type = supported(entry, expected.type());
    refuseOtherType(entry, type, wanted);
    boolean same =
        found instanceof Found.Signature(String thereType, String uuid)
            && thereType.equals(expected.type())
            && uuid.equalsIgnoreCase(expected.uuid().toString());
    if (!same) {
      throw damaged(entry, expected.toString(), found);
    }
    return type;
  }

  /** A volume of the original driver: it never says whether it was formatted. */
  private FilesystemType adoptLegacy(
      LedgerEntry entry, Found found, Optional<FilesystemType> wanted) {
    Found.Signature there = signature(entry, "a filesystem (made by an earlier release)", found);
    FilesystemType type = supported(entry, there.type());
    refuseOtherType(entry, type, wanted);
    volumes.record(
        entry, new Contents.Formatted(new Filesystem(type.text(), UUID.fromString(there.uuid()))));
    LOG.atInfo()
        .addKeyValue("volume", entry.id())
        .addKeyValue("filesystem", there)
        .log("Filesystem found that was not made by this driver, using it.");
    return type;
  }

  private static FilesystemType useOfBlockUser(
      LedgerEntry entry, Found found, Optional<FilesystemType> wanted) {
    Found.Signature there =
        signature(entry, "a filesystem (it was used as a raw block volume)", found);
    FilesystemType type = supported(entry, there.type());
    refuseOtherType(entry, type, wanted);
    return type;
  }

  private static Found.Signature signature(LedgerEntry entry, String expected, Found found) {
    return switch (found) {
      case Found.Signature there -> there;
      case Found.Nothing _, Found.Unreadable _ -> throw damaged(entry, expected, found);
    };
  }

  private static FilesystemType supported(LedgerEntry entry, String type) {
    return FilesystemType.parse(type)
        .filter(_ -> !type.isEmpty())
        .orElseThrow(
            () ->
                RefusedException.precondition(
                    "volume %s holds %s, which is neither ext4 nor xfs: it is left alone"
                        .formatted(entry.id(), type)));
  }

  private static void refuseOtherType(
      LedgerEntry entry, FilesystemType there, Optional<FilesystemType> wanted) {
    if (wanted.isPresent() && wanted.get() != there) {
      throw RefusedException.exists(
          "volume %s holds %s, asked for: %s"
              .formatted(entry.id(), there.text(), wanted.get().text()));
    }
  }

  private static RefusedException damaged(LedgerEntry entry, String expected, Found found) {
    return RefusedException.precondition(
        "volume %s is not formatted again: expected %s, found %s. Repair the filesystem or delete the volume"
            .formatted(entry.id(), expected, found));
  }
}
