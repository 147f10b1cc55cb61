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
 * Volumes as logical volumes that carry the volume's id as their name.
 *
 * <p>LVM takes one change at a time well and several badly, so all commands stand behind one lock;
 * erasing does not. Asking LVM costs more than changing something, so the groups are remembered,
 * and asked for again after a minute or when what is remembered does not fit the call.
 */
public final class LvmDevices implements DeviceManager {
  private static final Logger LOG = LoggerFactory.getLogger(LvmDevices.class);

  private final Lvm lvm;
  private final Eraser eraser;
  private final long totalBytes;
  private final Supplier<List<String>> hidden;
  private final ExpiringCache<Groups> groups;
  private final ReentrantLock lock = new ReentrantLock(true);

  /**
   * @param groupNames the volume groups to use, which all exist at the start
   * @param totalBytes all the persistent memory of this node
   * @param hidden asks for the places whose volumes are in none of these groups
   */
  public LvmDevices(
      CommandRunner runner,
      Eraser eraser,
      List<String> groupNames,
      long totalBytes,
      Supplier<List<String>> hidden) {
    this.lvm = new Lvm(runner);
    this.eraser = eraser;
    this.totalBytes = totalBytes;
    this.hidden = hidden;
    List<String> names = List.copyOf(groupNames);
    this.groups = new ExpiringCache<>(() -> lvm.groups(names));
  }

  @Override
  public DeviceMode mode() {
    return DeviceMode.LVM;
  }

  @Override
  public Capacity capacity() {
    return locked(() -> believed(_ -> true).capacity(totalBytes));
  }

  @Override
  public List<Device> list() {
    return locked(
        () ->
            groups.ask().all().stream()
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
                    hidden.get().stream(),
                    believed(_ -> true).unreadable().stream()
                        .map(group -> group + " (LVM cannot read it)"))
                .toList());
  }

  @Override
  public Optional<Device> find(VolumeId id) {
    return locked(() -> place(id).flatMap(place -> device(activated(place))));
  }

  @Override
  public Device create(VolumeId id, long sizeBytes, AccessModel accessModel) {
    eraser.forget(id);
    return locked(
        () -> {
          Groups now =
              believed(g -> g.find(id.value()).isEmpty() && !g.fitting(sizeBytes).isEmpty());
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
    Optional<Device> device = find(id);
    if (device.isPresent()) {
      eraser.release(device.get(), erase);
      locked(() -> remove(id));
    } else {
      locked(() -> requireWhole(id));
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
          groups.forget();
          Place place = place(id).orElseThrow(() -> new DeviceException.NotFound(id));
          if (activated(place).sizeBytes() < sizeBytes) {
            extend(id, place, sizeBytes);
          }
          return find(id).orElseThrow(() -> new DeviceException.NotFound(id));
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
        groups.forget();
        refuseStranger(id, e);
        tried.add(group.name());
        // one that was killed may have made the volume, and so may one that failed in the end: two
        // of one name would be the end of it
        boolean itselfEnded = e.reason() == ToolFailedException.Reason.EXIT_CODE;
        if (itselfEnded) {
          now = groups.ask();
        }
        if (!itselfEnded
            || now.find(id.value()).isPresent()
            || untried(now, tried, sizeBytes).isEmpty()) {
          throw new DeviceException.ToolFailed("create a logical volume for " + id, e);
        }
        LOG.atWarn()
            .addKeyValue("group", group.name())
            .addKeyValue("error", e.getMessage())
            .log("No logical volume here, trying the next group.");
      }
    }
  }

  private static List<Group> untried(Groups now, Set<String> tried, long sizeBytes) {
    return now.fitting(sizeBytes).stream().filter(group -> !tried.contains(group.name())).toList();
  }

  /** Others may have made a volume of that name since LVM was last asked: it is theirs. */
  private void refuseStranger(VolumeId id, ToolFailedException failure) {
    if (failure.stderrTail().contains("already exists in volume group")) {
      Optional<Place> stranger = groups.ask().find(id.value());
      throw new DeviceException.Exists(id, stranger.map(p -> p.volume().sizeBytes()).orElse(0L));
    }
  }

  private Optional<Place> remove(VolumeId id) {
    Groups now = believed(g -> g.find(id.value()).isPresent());
    Optional<Place> place = now.find(id.value());
    place.ifPresent(
        p -> {
          changing(
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
    changing(
        "extend the logical volume " + id,
        () ->
            lvm.extendVolume(
                group.name(), id.value(), Groups.roundUp(sizeBytes, group.extentBytes())));
    groups.forget();
  }

  private Optional<Place> place(VolumeId id) {
    return believed(g -> isAbsentOrReady(g.find(id.value()))).find(id.value());
  }

  /** What is remembered if it is plausible; as long as a group is missing, nothing is. */
  private Groups believed(Predicate<Groups> plausible) {
    return groups.where(g -> g.isWhole() && plausible.test(g));
  }

  /** A volume may have gone only if it is in no group that should be there. */
  private Groups requireWhole(VolumeId id) {
    Groups now = believed(_ -> true);
    if (!now.isWhole()) {
      throw new DeviceException.ToolFailed(
          "remove the logical volume " + id,
          new IllegalStateException(
              "it may be in %s, which LVM cannot read: see what vgs says of it"
                  .formatted(String.join(", ", now.unreadable()))));
    }
    return now;
  }

  private static boolean isAbsentOrReady(Optional<Place> place) {
    return place.map(p -> Files.exists(p.volume().path())).orElse(true);
  }

  /** Gives a volume that a reboot has left inactive its device node back. */
  private Volume activated(Place place) {
    Volume volume = place.volume();
    if (!Files.exists(volume.path())) {
      changing(
          "activate the logical volume " + volume.name(),
          () -> lvm.activateVolume(place.group().name(), volume.name()));
    }
    return volume;
  }

  private void changing(String doing, Runnable change) {
    try {
      change.run();
    } catch (ToolFailedException e) {
      groups.forget();
      throw new DeviceException.ToolFailed(doing, e);
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
