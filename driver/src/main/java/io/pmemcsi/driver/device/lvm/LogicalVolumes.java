package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.ExpiringCache;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.device.lvm.Groups.Place;
import io.pmemcsi.driver.device.lvm.LvmReport.Group;
import io.pmemcsi.driver.device.lvm.LvmReport.Volume;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes logical volumes and keeps the cached groups in step. Callers hold the lock of {@link
 * LvmDevices}.
 */
final class LogicalVolumes {
  private static final Logger LOG = LoggerFactory.getLogger(LogicalVolumes.class);

  private final Lvm lvm;
  private final OwnerTag owner;
  private final ExpiringCache<Groups> groups;

  LogicalVolumes(Lvm lvm, OwnerTag owner, ExpiringCache<Groups> groups) {
    this.lvm = lvm;
    this.owner = owner;
    this.groups = groups;
  }

  /** The cached groups if they are plausible; while a group is unreadable they never are. */
  Groups cachedGroups(Predicate<Groups> plausible) {
    return groups.getIf(g -> g.isComplete() && plausible.test(g));
  }

  Optional<Place> place(VolumeId id) {
    return cachedGroups(g -> g.find(id.value()).map(LogicalVolumes::isActive).orElse(true))
        .find(id.value());
  }

  /** Creates a volume in the first group that has enough space and works. */
  Device createInFirst(Groups before, VolumeId id, long sizeBytes, Predicate<Group> allowed) {
    Groups now = before;
    Set<String> tried = new HashSet<>();
    while (true) {
      Group group = untried(now, tried, sizeBytes, allowed).getFirst();
      Path path = Path.of("/dev", group.name(), id.value());
      long size = Groups.roundUp(sizeBytes, group.extentBytes());
      try {
        lvm.createVolume(group.name(), id.value(), size, owner);
        groups.update(now.with(group, new Volume(id.value(), path, size, List.of(owner.text()))));
        return new Device(id, path, size);
      } catch (ToolFailedException e) {
        groups.invalidate();
        tried.add(group.name());
        now = afterFailure(id, e);
        // one that failed in the end may have created the volume: two of one name are unusable
        if (now.find(id.value()).isPresent() || untried(now, tried, sizeBytes, allowed).isEmpty()) {
          throw notCreated(id, e);
        }
        LOG.atWarn()
            .addKeyValue("group", group.name())
            .addKeyValue("error", e.getMessage())
            .log("The logical volume was not created in this group, trying the next one.");
      }
    }
  }

  /** The groups after an lvcreate that failed, where another group may be tried. */
  private Groups afterFailure(VolumeId id, ToolFailedException failure) {
    return switch (LvmFailure.classify(failure)) {
      case VOLUME_EXISTS -> {
        // another program has created it since the groups were read
        Optional<Place> other = groups.refresh().find(id.value());
        throw new DeviceException.Exists(id, other.map(p -> p.volume().sizeBytes()).orElse(0L));
      }
      case NO_ANSWER -> throw notCreated(id, failure);
      case REFUSED -> groups.refresh();
    };
  }

  private static DeviceException notCreated(VolumeId id, ToolFailedException failure) {
    return new DeviceException.ToolFailed("create a logical volume for " + id, failure);
  }

  private static List<Group> untried(
      Groups now, Set<String> tried, long sizeBytes, Predicate<Group> allowed) {
    return now.fitting(sizeBytes, allowed).stream()
        .filter(group -> !tried.contains(group.name()))
        .toList();
  }

  Optional<Place> remove(VolumeId id) {
    Groups now = cachedGroups(g -> g.find(id.value()).isPresent());
    Optional<Place> place = now.find(id.value());
    place.ifPresent(
        p -> {
          change(
              "remove the logical volume " + id,
              () -> lvm.removeVolume(p.group().name(), id.value()));
          groups.update(now.without(p));
        });
    return place;
  }

  Volume extended(Groups now, VolumeId id, Place place, long sizeBytes) {
    requireSpace(place, sizeBytes);
    Group group = place.group();
    long rounded = Groups.roundUp(sizeBytes, group.extentBytes());
    try {
      lvm.extendVolume(group.name(), id.value(), rounded);
      groups.update(now.resized(place, rounded));
      return place.volume().withSize(rounded);
    } catch (ToolFailedException e) {
      groups.invalidate();
      DeviceException failure =
          new DeviceException.ToolFailed("extend the logical volume " + id, e);
      if (LvmFailure.classify(e) == LvmFailure.NO_ANSWER) {
        throw failure;
      }
      // another program may have used the space, or extended the volume, since the report
      Place really = place(id).orElseThrow(() -> failure);
      if (really.volume().sizeBytes() >= sizeBytes) {
        return really.volume();
      }
      requireSpace(really, sizeBytes);
      throw failure;
    }
  }

  private static void requireSpace(Place place, long sizeBytes) {
    if (sizeBytes > possibleBytes(place)) {
      throw new DeviceException.NotEnoughSpace(sizeBytes, possibleBytes(place));
    }
  }

  /** The size that a volume can have in its group. */
  static long possibleBytes(Place place) {
    return place.volume().sizeBytes() + place.group().freeBytes();
  }

  /** Tags volumes as those of this driver. */
  void tag(List<String> names) {
    change("tag the logical volumes", () -> lvm.tagVolumes(names, owner));
    groups.invalidate();
  }

  static boolean isActive(Place place) {
    return Files.exists(place.volume().path());
  }

  /** Activates a volume that a reboot has left inactive, which creates its device node. */
  Volume activated(Place place) {
    Volume volume = place.volume();
    if (!isActive(place)) {
      change(
          "activate the logical volume " + volume.name(),
          () -> lvm.activateVolume(place.group().name(), volume.name()));
    }
    return volume;
  }

  private void change(String operation, Runnable command) {
    try {
      command.run();
    } catch (ToolFailedException e) {
      groups.invalidate();
      throw new DeviceException.ToolFailed(operation, e);
    }
  }
}
