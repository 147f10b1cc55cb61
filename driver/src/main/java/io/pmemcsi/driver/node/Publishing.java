package io.pmemcsi.driver.node;

import io.pmemcsi.driver.csi.CsiStatusException;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.linux.block.BlockDevices;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.MountOptions;
import io.pmemcsi.driver.linux.mount.Mounts;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.operations.Volumes;
import io.pmemcsi.driver.volume.store.LedgerEntry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Shows volumes to pods, and makes and removes those that live only as long as their pod. */
public final class Publishing {

  private static final Logger LOG = LoggerFactory.getLogger(Publishing.class);

  private final Volumes volumes;
  private final Formatter formatter;
  private final VolumeMounts volumeMounts;
  private final Mounts mounts;
  private final DeviceUsers usages;
  private final KataVolumes kata;
  private final PendingMounts unfinished;

  public Publishing(
      Volumes volumes,
      Formatter formatter,
      VolumeMounts volumeMounts,
      Mounts mounts,
      DeviceUsers usages,
      KataVolumes kata,
      PendingMounts unfinished) {
    this.volumes = volumes;
    this.formatter = formatter;
    this.volumeMounts = volumeMounts;
    this.mounts = mounts;
    this.usages = usages;
    this.kata = kata;
    this.unfinished = unfinished;
  }

  /** Whether a request names a volume that CreateVolume has made. */
  public boolean isKnownPersistent(String volumeId) {
    return volumes.isDamaged(volumeId)
        || volumes.find(volumeId).filter(entry -> !entry.parameters().ephemeral()).isPresent();
  }

  /** Shows a volume that CreateVolume has made. */
  public void publish(
      String volumeId, Optional<Path> staging, Path target, Access access, boolean readOnly) {
    volumes.withLock(
        volumeId,
        id -> {
          LedgerEntry entry = volumes.require(volumeId);
          Device device = volumes.usable(entry);
          switch (access) {
            case Access.Block block -> publishBlock(entry, device, target, block, readOnly);
            case Access.Mount mount ->
                publishStaged(entry, device, required(staging), target, mount, readOnly);
          }
          LOG.atInfo()
              .addKeyValue("volume", id)
              .addKeyValue("path", target)
              .log("Volume published.");
          return id;
        });
  }

  /** Makes a volume for one pod and shows it. */
  public void publishEphemeral(
      String volumeId, Path target, Access access, boolean readOnly, VolumeParameters wanted) {
    Access.Mount mount =
        switch (access) {
          case Access.Mount asked -> asked;
          case Access.Block _ ->
              throw CsiStatusException.invalid(
                  "volume_capability: ephemeral inline volumes cannot be raw block volumes");
        };
    volumes.withLock(
        volumeId,
        id -> {
          Optional<LedgerEntry> before = volumes.find(volumeId).or(() -> volumes.named(volumeId));
          if (before.filter(entry -> !entry.parameters().ephemeral()).isPresent()) {
            throw CsiStatusException.exists(
                "volume_id \"%s\" is that of a persistent volume".formatted(volumeId));
          }
          boolean fresh = before.filter(entry -> !volumes.isUnfinished(entry)).isEmpty();
          long minimum = mount.type().map(FilesystemType::minimumBytes).orElse(0L);
          SizeRange size = new SizeRange(wanted.sizeBytes().orElse(0), 0).atLeast(minimum);
          LedgerEntry entry = volumes.create(volumeId, size, wanted);
          try {
            publishFresh(entry, volumes.usable(entry), target, mount, readOnly);
          } catch (RuntimeException e) {
            Cancellation.shielded(() -> giveUp(volumeId, entry, fresh, target, e));
            throw e;
          }
          LOG.atInfo()
              .addKeyValue("volume", id)
              .addKeyValue("path", target)
              .log("Ephemeral volume published.");
          return id;
        });
  }

  /** Takes a volume away from a pod; an ephemeral one is deleted. */
  public void unpublish(String volumeId, Path target) {
    volumes.withLock(
        volumeId,
        id -> {
          Optional<LedgerEntry> entry = volumes.find(volumeId);
          if (entry.isPresent()) {
            unpublish(volumeId, entry.get(), target);
          } else if (volumes.isDamaged(volumeId)) {
            // unmounting is safe even where the record of the volume is damaged
            volumeMounts.unmountAll(target, Optional.empty());
            Paths.remove(target);
          } else if (mounts.table().at(target).isPresent()) {
            throw CsiStatusException.notFound(
                "there is no volume \"%s\", but something is mounted at %s"
                    .formatted(volumeId, target));
          } else {
            // the pod must be able to go although its volume is gone
            Paths.remove(target);
          }
          LOG.atInfo()
              .addKeyValue("volume", id)
              .addKeyValue("path", target)
              .log("Volume unpublished.");
          return id;
        });
  }

  private void unpublish(String volumeId, LedgerEntry entry, Path target) {
    takeDown(entry, target);
    if (entry.parameters().ephemeral()) {
      volumes.delete(volumeId);
    }
  }

  private void takeDown(LedgerEntry entry, Path target) {
    if (entry.parameters().kataContainers()) {
      kata.unpublish(entry, target);
    } else {
      volumeMounts.unmountAll(target, volumes.deviceIfThere(entry).map(DeviceUsers::number));
    }
    Paths.remove(target);
    unfinished.clear(target);
  }

  private void publishBlock(
      LedgerEntry entry, Device device, Path target, Access.Block access, boolean readOnly) {
    if (entry.parameters().kataContainers()) {
      throw CsiStatusException.invalid(
          "volume_capability: volume %s has kataContainers=true, it cannot be a raw block volume"
              .formatted(entry.id()));
    }
    refuseSecondWriter(entry, device, access, Optional.empty(), target);
    Optional<MountEntry> there = mounts.table().at(target);
    if (there.isPresent() && !isUnfinished(target)) {
      if (!BlockDevices.isNodeOf(target, DeviceUsers.number(device))) {
        throw CsiStatusException.exists("something else is mounted at %s".formatted(target));
      }
      VolumeMounts.requireSame(there.get(), readOnly);
      return;
    }
    formatter.handOutRaw(entry);
    Paths.makeFile(target);
    bind(device.path(), target, readOnly ? List.of("ro") : List.of());
  }

  private void publishStaged(
      LedgerEntry entry,
      Device device,
      Path staging,
      Path target,
      Access.Mount access,
      boolean readOnly) {
    if (mounts.table().at(staging).filter(isOf(device)).isEmpty()) {
      throw CsiStatusException.precondition(
          "volume %s is not staged at staging_target_path %s".formatted(entry.id(), staging));
    }
    refuseSecondWriter(entry, device, access, Optional.of(staging), target);
    List<String> options = options(access, readOnly);
    if (entry.parameters().kataContainers()) {
      kata.publish(entry, target, access, options, host -> mounts.bind(staging, host));
    } else if (isUnfinished(target)
        || !volumeMounts.isMounted(entry, device, target, ofTheMount(access, options), readOnly)) {
      Paths.makeFolder(target);
      bind(staging, target, Mounts.ofTheMount(options));
    }
  }

  private void publishFresh(
      LedgerEntry entry, Device device, Path target, Access.Mount access, boolean readOnly) {
    List<String> options = options(access, readOnly);
    boolean image = entry.parameters().kataContainers();
    if (!image && volumeMounts.isMounted(entry, device, target, access, readOnly)) {
      volumeMounts.finish(target);
      return;
    }
    Optional<FilesystemType> wanted = access.type();
    FilesystemType type = formatter.ensure(entry, device, wanted);
    if (image) {
      kata.publish(
          entry,
          target,
          access,
          options,
          host -> volumeMounts.mount(entry, device, host, type, access.flags()));
    } else {
      Paths.makeFolder(target);
      volumeMounts.mount(entry, device, target, type, options);
    }
  }

  private void giveUp(
      String volumeId, LedgerEntry entry, boolean fresh, Path target, RuntimeException reason) {
    try {
      if (fresh && mounts.table().at(target).isEmpty()) {
        // no pod was given it: erasing would only take time
        takeDown(entry, target);
        volumes.discard(volumeId);
      } else if (fresh || formatter.isUntouched(entry)) {
        // also one that an earlier call has made, as long as nothing was put on it
        unpublish(volumeId, entry, target);
      }
    } catch (RuntimeException e) {
      // it stays in the ledger, and NodeUnpublishVolume removes it
      reason.addSuppressed(e);
    }
  }

  private void bind(Path source, Path target, List<String> options) {
    while (isUnfinished(target) && mounts.table().at(target).isPresent()) {
      mounts.unmount(target);
    }
    if (options.isEmpty()) {
      mounts.bind(source, target);
      unfinished.clear(target);
      return;
    }
    unfinished.set(target);
    mounts.bind(source, target);
    mounts.remountBound(target, options);
    unfinished.clear(target);
  }

  private boolean isUnfinished(Path target) {
    return unfinished.isSet(target);
  }

  private void refuseSecondWriter(
      LedgerEntry entry, Device device, Access access, Optional<Path> staging, Path target) {
    if (!access.singleWriter()) {
      return;
    }
    List<MountEntry> all = new ArrayList<>(usages.mountsOf(device));
    all.addAll(kata.publications(entry));
    all.removeIf(mount -> mount.mountPoint().equals(target));
    all.removeIf(mount -> staging.isPresent() && mount.mountPoint().equals(staging.get()));
    all.removeIf(mount -> mount.mountPoint().equals(kata.hostMount(entry)));
    if (!all.isEmpty()) {
      throw CsiStatusException.precondition(
          "volume %s may have a single writer only and is published at %s already"
              .formatted(entry.id(), all.getFirst().mountPoint()));
    }
  }

  private static Predicate<MountEntry> isOf(Device device) {
    DeviceNumber number = DeviceUsers.number(device);
    return mount -> mount.number().equals(number);
  }

  private static List<String> options(Access.Mount access, boolean readOnly) {
    List<String> options = new ArrayList<>(access.flags());
    options.removeAll(List.of("ro", "rw"));
    if (readOnly || MountOptions.of(access.flags()).isReadOnly()) {
      options.add("ro");
    }
    return options;
  }

  /** What is wanted of a bind mount; all else was wanted of the filesystem when it was staged. */
  private static Access.Mount ofTheMount(Access.Mount access, List<String> options) {
    return new Access.Mount(access.type(), Mounts.ofTheMount(options), access.singleWriter());
  }

  private static Path required(Optional<Path> staging) {
    return staging.orElseThrow(
        () ->
            CsiStatusException.precondition(
                "staging_target_path is missing: stage the volume first"));
  }
}
