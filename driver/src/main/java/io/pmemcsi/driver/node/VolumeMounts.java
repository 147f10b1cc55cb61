package io.pmemcsi.driver.node;

import io.pmemcsi.driver.device.AccessModel;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.linux.block.BlockDevices;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.mount.DaxMissingException;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.MountOptions;
import io.pmemcsi.driver.linux.mount.Mounts;
import io.pmemcsi.driver.linux.mount.SelinuxContext;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Mounts the devices of volumes the way their parameters ask for. */
public final class VolumeMounts {

  private static final Logger LOG = LoggerFactory.getLogger(VolumeMounts.class);

  private final Mounts mounts;
  private final CommandRunner runner;

  public VolumeMounts(Mounts mounts, CommandRunner runner) {
    this.mounts = mounts;
    this.runner = runner;
  }

  /** Mounts a volume's filesystem, with DAX unless the volume does without. */
  void mount(
      VolumeRecord entry, Device device, Path target, FilesystemType type, List<String> options) {
    if (needsDax(entry) || MountOptions.asksForDax(options)) {
      mounts.mountWithDax(device.path(), target, type, MountOptions.withoutDax(options));
    } else {
      mounts.mount(device.path(), target, type, options);
      if (entry.parameters().accessModel() == AccessModel.APP_DIRECT) {
        LOG.atInfo()
            .addKeyValue("volume", entry.id())
            .addKeyValue("target", target)
            .addKeyValue("mode", mode(entry))
            .log("Mounted without DAX: this device mode does not support it.");
      }
    }
    if (!MountOptions.of(options).isReadOnly()) {
      tune(type, target);
    }
  }

  private static boolean needsDax(VolumeRecord entry) {
    return entry.parameters().accessModel() == AccessModel.APP_DIRECT && supportsDax(entry);
  }

  private static boolean supportsDax(VolumeRecord entry) {
    return entry.parameters().deviceMode().map(DeviceMode::usesPmem).orElse(true);
  }

  private static String mode(VolumeRecord entry) {
    return entry.parameters().deviceMode().map(DeviceMode::text).orElse("");
  }

  /** Throws, before anything is changed, when a request asks for DAX and there can be none. */
  static void refuseImpossibleDax(VolumeRecord entry, Access.Mount requested) {
    if (MountOptions.asksForDax(requested.flags()) && !supportsDax(entry)) {
      throw new VolumeException.PreconditionFailed(
          "mount flag \"dax\": volume %s is in device mode %s, which does not support DAX. Leave the flag out"
              .formatted(entry.id(), mode(entry)));
    }
  }

  /** Throws when a request asks for DAX and a volume was staged without it. */
  void requireRequestedDax(Path staging, Access.Mount requested) {
    if (MountOptions.asksForDax(requested.flags())
        && !mounts.table().at(staging).map(MountEntry::hasDax).orElse(false)) {
      throw new VolumeException.Incompatible(
          "%s is mounted without DAX, requested: %s"
              .formatted(staging, String.join(",", requested.flags())));
    }
  }

  /** A call that died between mounting and checking for DAX may have left a mount without it. */
  static void requireDax(VolumeRecord entry, MountEntry there) {
    if (needsDax(entry) && !there.hasDax()) {
      throw DaxMissingException.at(there.mountPoint());
    }
  }

  /** Does what a call that has died may have left out after mounting. */
  void finish(Path target) {
    writableType(target).ifPresent(type -> tune(type, target));
  }

  /** The filesystem that is mounted at a path, unless it is mounted read-only. */
  Optional<FilesystemType> writableType(Path target) {
    return mounts
        .table()
        .at(target)
        .filter(mount -> !mount.isReadOnly())
        .flatMap(mount -> FilesystemType.parse(mount.type()));
  }

  /** Whether the filesystem on a device is mounted at a path. */
  boolean isMountedAt(Device device, Path target) {
    return mounts
        .table()
        .at(target)
        .filter(mount -> mount.number().equals(DeviceUsers.number(device)))
        .isPresent();
  }

  /** Whether a volume is mounted at a path; something else being there is an error. */
  boolean isMounted(
      VolumeRecord entry, Device device, Path target, Access.Mount requested, boolean readOnly) {
    Optional<MountEntry> there = mounts.table().at(target);
    if (there.isEmpty()) {
      return false;
    }
    if (!there.get().number().equals(DeviceUsers.number(device))) {
      throw new VolumeException.Incompatible(
          "something else is mounted at %s: %s".formatted(target, there.get().source()));
    }
    requireSame(there.get(), requested, readOnly);
    requireDax(entry, there.get());
    return true;
  }

  /** Throws when a mount is not the requested one. */
  static void requireSame(MountEntry there, Access.Mount requested, boolean readOnly) {
    requested
        .type()
        .filter(type -> !type.text().equals(there.type()))
        .ifPresent(
            type -> {
              throw new VolumeException.Incompatible(
                  "%s holds %s, requested: %s"
                      .formatted(there.mountPoint(), there.type(), type.text()));
            });
    MountOptions.shown(requested.flags())
        .forEach(
            (flag, set) -> {
              if (there.has(flag) != set) {
                throw new VolumeException.Incompatible(
                    "%s is mounted %s the mount flag \"%s\", requested: %s"
                        .formatted(
                            there.mountPoint(),
                            set ? "without" : "with",
                            flag,
                            String.join(",", requested.flags())));
              }
            });
    requireSameContext(there, requested);
    requireSame(there, readOnly || MountOptions.of(requested.flags()).isReadOnly());
  }

  /** A kernel without SELinux ignores contexts, and shows nothing of them. */
  private static void requireSameContext(MountEntry there, Access.Mount requested) {
    MountOptions.selinuxContext(requested.flags())
        .filter(
            context ->
                there
                    .selinuxContext()
                    .map(shown -> !SelinuxContext.of(shown).equals(SelinuxContext.of(context)))
                    .orElseGet(there::hasSelinuxLabels))
        .ifPresent(
            context -> {
              throw new VolumeException.Incompatible(
                  "%s is mounted with the SELinux context %s, requested: %s"
                      .formatted(
                          there.mountPoint(),
                          there.selinuxContext().orElse("of each file"),
                          context));
            });
  }

  /** The same for what has no filesystem of its own. */
  static void requireSame(MountEntry there, boolean readOnly) {
    if (there.isReadOnly() != readOnly) {
      throw new VolumeException.Incompatible(
          "%s is mounted %s"
              .formatted(there.mountPoint(), there.isReadOnly() ? "read-only" : "writable"));
    }
  }

  /** Unmounts all that is mounted at a path, provided that it belongs to the volume. */
  void unmountAll(Path target, Optional<DeviceNumber> number) {
    for (MountEntry mount : mounts.table().allAt(target)) {
      boolean notOwned =
          number.isPresent()
              && !mount.number().equals(number.get())
              // one that came back has another number; its pod must be able to terminate
              && !mount.number().hasVanished()
              && !BlockDevices.isNodeOf(target, number.get());
      if (notOwned) {
        throw new VolumeException.PreconditionFailed(
            "what is mounted at %s (%s) is not this volume".formatted(target, mount.source()));
      }
      mounts.unmount(target);
    }
  }

  /** Allocates files on xfs in steps of 2 MiB, so that they can be mapped with huge pages. */
  private void tune(FilesystemType type, Path target) {
    if (type == FilesystemType.XFS) {
      runner.run(Command.of("xfs_io", "-c", "extsize 2m", target.toString()));
    }
  }
}
