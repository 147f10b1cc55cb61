package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.driver.device.AccessModel;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.ExpiringCache;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.device.lvm.Groups.Place;
import io.pmemcsi.driver.device.lvm.LvmReport.Group;
import io.pmemcsi.driver.device.lvm.LvmReport.Volume;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Volumes as logical volumes that have the volume's ID as their name.
 *
 * <p>LVM handles one change at a time well and several badly, so all commands run under one lock;
 * erasing does not. A report of LVM costs more than a change, so the groups are cached, and read
 * again after a minute or when the cached ones do not fit the call. A device whose node exists is
 * found in the cache without the lock: the users of a volume must not wait for a command that hangs
 * for another one.
 */
public final class LvmDevices implements DeviceManager {
  private static final Logger LOG = LoggerFactory.getLogger(LvmDevices.class);

  private final Lvm lvm;
  private final Eraser eraser;
  private final long totalBytes;
  private final Supplier<List<String>> unavailable;
  private final ExpiringCache<Groups> groups;
  private final ReentrantLock lock = new ReentrantLock(true);

  /**
   * Manages the volumes of these groups.
   *
   * @param groupNames the volume groups to use, which all exist at the start
   * @param totalBytes all the persistent memory of this node
   * @param unavailable lists the places whose volumes are in none of these groups
   */
  public LvmDevices(
      CommandRunner runner,
      Eraser eraser,
      List<String> groupNames,
      long totalBytes,
      Supplier<List<String>> unavailable) {
    this.lvm = new Lvm(runner);
    this.eraser = eraser;
    this.totalBytes = totalBytes;
    this.unavailable = unavailable;
    List<String> names = List.copyOf(groupNames);
    this.groups = new ExpiringCache<>(() -> lvm.groups(names));
  }

  @Override
  public DeviceMode mode() {
    return DeviceMode.LVM;
  }

  @Override
  public Capacity capacity() {
    return locked(() -> cachedGroups(_ -> true).capacity(totalBytes));
  }

  @Override
  public List<Device> list() {
    return locked(
        () ->
            groups.refresh().all().stream()
                .flatMap(group -> group.volumes().stream())
                .flatMap(volume -> device(volume).stream())
                .sorted(Comparator.comparing(Device::id))
                .toList());
  }

  @Override
  public boolean exists(VolumeId id) {
    return locked(() -> place(id).isPresent());
  }

  @Override
  public List<String> unavailablePools() {
    return locked(
        () ->
            Stream.concat(
                    unavailable.get().stream(),
                    cachedGroups(_ -> true).unreadable().stream()
                        .map(group -> group + " (LVM cannot read it)"))
                .toList());
  }

  @Override
  public Optional<Device> find(VolumeId id) {
    return groups
        .last()
        .flatMap(known -> known.find(id.value()))
        .filter(LvmDevices::isActive)
        .flatMap(place -> device(place.volume()))
        .or(() -> locked(() -> activeDevice(id)));
  }

  @Override
  public Device create(VolumeId id, long sizeBytes, AccessModel accessModel) {
    eraser.forget(id);
    return locked(
        () -> {
          Groups now =
              cachedGroups(g -> g.find(id.value()).isEmpty() && !g.fitting(sizeBytes).isEmpty());
          Optional<Place> same = now.find(id.value());
          if (same.isPresent()) {
            throw new DeviceException.Exists(id, same.get().volume().sizeBytes());
          }
          if (now.fitting(sizeBytes).isEmpty()) {
            long largest = now.capacity(totalBytes).maxVolumeSize();
            throw new DeviceException.NotEnoughSpace(sizeBytes, largest);
          }
          return createInFirst(now, id, sizeBytes);
        });
  }

  @Override
  public void delete(VolumeId id, boolean erase) {
    // under the lock: what is erased must have the size that the volume has now
    Optional<Device> device = locked(() -> activeDevice(id));
    if (device.isPresent()) {
      eraser.release(device.get(), erase);
      locked(() -> remove(id));
    } else {
      locked(() -> requireAllReadable(id));
    }
  }

  @Override
  public long roundedSize(VolumeId id, long sizeBytes) {
    return locked(
        () ->
            place(id)
                .map(place -> Groups.roundUp(sizeBytes, place.group().extentBytes()))
                .orElse(sizeBytes));
  }

  @Override
  public Device expand(VolumeId id, long sizeBytes) {
    return locked(
        () -> {
          groups.invalidate();
          Place place = place(id).orElseThrow(() -> new DeviceException.NotFound(id));
          if (activated(place).sizeBytes() < sizeBytes) {
            extend(id, place, sizeBytes);
          }
          return activeDevice(id).orElseThrow(() -> new DeviceException.NotFound(id));
        });
  }

  private Device createInFirst(Groups before, VolumeId id, long sizeBytes) {
    Groups now = before;
    Set<String> tried = new HashSet<>();
    while (true) {
      Group group = untried(now, tried, sizeBytes).getFirst();
      Path path = Path.of("/dev", group.name(), id.value());
      long size = Groups.roundUp(sizeBytes, group.extentBytes());
      try {
        lvm.createVolume(group.name(), id.value(), size);
        groups.update(now.with(group, new Volume(id.value(), path, size)));
        return new Device(id, path, size);
      } catch (ToolFailedException e) {
        groups.invalidate();
        tried.add(group.name());
        now = afterFailure(id, e);
        // one that failed in the end may have created the volume: two of one name are unusable
        if (now.find(id.value()).isPresent() || untried(now, tried, sizeBytes).isEmpty()) {
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

  private static List<Group> untried(Groups now, Set<String> tried, long sizeBytes) {
    return now.fitting(sizeBytes).stream().filter(group -> !tried.contains(group.name())).toList();
  }

  private Optional<Place> remove(VolumeId id) {
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

  private void extend(VolumeId id, Place place, long sizeBytes) {
    Group group = place.group();
    long possible = place.volume().sizeBytes() + group.freeBytes();
    if (sizeBytes > possible) {
      throw new DeviceException.NotEnoughSpace(sizeBytes, possible);
    }
    change(
        "extend the logical volume " + id,
        () ->
            lvm.extendVolume(
                group.name(), id.value(), Groups.roundUp(sizeBytes, group.extentBytes())));
    groups.invalidate();
  }

  private Optional<Device> activeDevice(VolumeId id) {
    return place(id).flatMap(place -> device(activated(place)));
  }

  private Optional<Place> place(VolumeId id) {
    return cachedGroups(g -> g.find(id.value()).map(LvmDevices::isActive).orElse(true))
        .find(id.value());
  }

  /** The cached groups if they are plausible; while a group is unreadable they never are. */
  private Groups cachedGroups(Predicate<Groups> plausible) {
    return groups.getIf(g -> g.isComplete() && plausible.test(g));
  }

  /** A volume is known to be deleted only if every group that should exist can be read. */
  private Groups requireAllReadable(VolumeId id) {
    Groups now = cachedGroups(_ -> true);
    if (!now.isComplete()) {
      throw new DeviceException.ToolFailed(
          "remove the logical volume " + id,
          new IllegalStateException(
              "it may be in %s, which LVM cannot read: check the output of vgs"
                  .formatted(String.join(", ", now.unreadable()))));
    }
    return now;
  }

  private static boolean isActive(Place place) {
    return Files.exists(place.volume().path());
  }

  /** Activates a volume that a reboot has left inactive, which creates its device node. */
  private Volume activated(Place place) {
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

  private static Optional<Device> device(Volume volume) {
    return VolumeId.parse(volume.name())
        .map(id -> new Device(id, volume.path(), volume.sizeBytes()));
  }

  private <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      return action.get();
    } finally {
      lock.unlock();
    }
  }
}
