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
    if (needsDax(entry)) {
      mounts.mountWithDax(device.path(), target, type, options);
    } else {
      mounts.mount(device.path(), target, type, options);
      if (entry.parameters().accessModel() == AccessModel.APP_DIRECT) {
        LOG.atInfo()
            .addKeyValue("volume", entry.id())
            .addKeyValue("target", target)
            .addKeyValue("mode", entry.parameters().deviceMode().map(DeviceMode::text).orElse(""))
            .log("Mounted without DAX: this device mode does not support it.");
      }
    }
    if (!MountOptions.of(options).isReadOnly()) {
      tune(type, target);
    }
  }

  private static boolean needsDax(VolumeRecord entry) {
    return entry.parameters().accessModel() == AccessModel.APP_DIRECT
        && entry.parameters().deviceMode().map(DeviceMode::usesPmem).orElse(true);
  }

  /** A call that died between mounting and checking for DAX may have left a mount without it. */
  static void requireDax(VolumeRecord entry, MountEntry there) {
    if (needsDax(entry) && !there.hasDax()) {
      throw DaxMissingException.at(there.mountPoint());
    }
  }

  /** Does what a call that has died may have left out after mounting. */
  void finish(Path target) {
    mounts
        .table()
        .at(target)
        .filter(mount -> !mount.isReadOnly())
        .flatMap(mount -> FilesystemType.parse(mount.type()))
        .ifPresent(type -> tune(type, target));
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
    requireSame(there, readOnly || MountOptions.of(requested.flags()).isReadOnly());
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
    Optional<MountEntry> there = mounts.table().at(target);
    while (there.isPresent()) {
      MountEntry mount = there.get();
      boolean notOwned =
          number.isPresent()
              && !mount.number().equals(number.get())
              && !BlockDevices.isNodeOf(target, number.get());
      if (notOwned) {
        throw new VolumeException.PreconditionFailed(
            "what is mounted at %s (%s) is not this volume".formatted(target, mount.source()));
      }
      mounts.unmount(target);
      there = mounts.table().at(target);
    }
  }

  /** Allocates files on xfs in steps of 2 MiB, so that they can be mapped with huge pages. */
  private void tune(FilesystemType type, Path target) {
    if (type == FilesystemType.XFS) {
      runner.run(Command.of("xfs_io", "-c", "extsize 2m", target.toString()));
    }
  }
}
