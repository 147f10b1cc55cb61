package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.device.AccessModel;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.ExpiringCache;
import io.pmemcsi.driver.device.Pool;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.device.lvm.Groups.Place;
import io.pmemcsi.driver.device.lvm.LvmReport.Group;
import io.pmemcsi.driver.device.lvm.LvmReport.Volume;
import io.pmemcsi.driver.device.ndctl.Region;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
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

  private final Eraser eraser;
  private final OwnerTag owner;
  private final Preparation preparation;
  private final ExpiringCache<Groups> groups;
  private final LogicalVolumes volumes;
  private final ReentrantLock lock = new ReentrantLock(true);
  private volatile Prepared prepared;

  /**
   * The volume groups to use, which all exist.
   *
   * @param totalBytes all the persistent memory of this node
   * @param regions the region of each group
   */
  record Prepared(List<String> groupNames, long totalBytes, Map<String, Region> regions) {
    Prepared {
      groupNames = List.copyOf(groupNames);
      regions = Map.copyOf(regions);
    }
  }

  /** What the manager needs to know about the memory of the node. */
  interface Preparation {
    /** Prepares groups again, if there is memory that is in none of them. */
    Optional<Prepared> prepareNew(Prepared known);

    /** The places whose volumes are in none of these groups. */
    List<String> unavailable(List<String> groupNames);
  }

  /**
   * Manages the volumes of these groups only.
   *
   * @param driver the one that new volumes belong to
   * @param totalBytes all the persistent memory of this node
   * @param unavailable lists the places whose volumes are in none of these groups
   */
  public LvmDevices(
      CommandRunner runner,
      Eraser eraser,
      DriverName driver,
      List<String> groupNames,
      long totalBytes,
      Supplier<List<String>> unavailable) {
    this(
        runner,
        eraser,
        driver,
        new Prepared(groupNames, totalBytes, Map.of()),
        new Preparation() {
          @Override
          public Optional<Prepared> prepareNew(Prepared known) {
            return Optional.empty();
          }

          @Override
          public List<String> unavailable(List<String> known) {
            return unavailable.get();
          }
        });
  }

  /** Manages the volumes of these groups, and of those that are prepared later. */
  LvmDevices(
      CommandRunner runner,
      Eraser eraser,
      DriverName driver,
      Prepared prepared,
      Preparation preparation) {
    var lvm = new Lvm(runner);
    this.eraser = eraser;
    this.owner = new OwnerTag(driver);
    this.prepared = prepared;
    this.preparation = preparation;
    this.groups = new ExpiringCache<>(() -> lvm.groups(this.prepared.groupNames()));
    this.volumes = new LogicalVolumes(lvm, owner, groups);
  }

  @Override
  public void takeNewMemory() {
    locked(
        () -> {
          Optional<Prepared> more = preparation.prepareNew(prepared);
          more.ifPresent(
              now -> {
                prepared = now;
                groups.invalidate();
                LOG.atInfo()
                    .addKeyValue("groups", now.groupNames())
                    .addKeyValue("bytes", now.totalBytes())
                    .log("New memory was taken into use.");
              });
          return more;
        });
  }

  @Override
  public DeviceMode mode() {
    return DeviceMode.LVM;
  }

  @Override
  public Capacity capacity() {
    return locked(() -> volumes.cachedGroups(_ -> true).capacity(prepared.totalBytes()));
  }

  @Override
  public List<Pool> pools() {
    return locked(() -> pools(volumes.cachedGroups(_ -> true)));
  }

  private List<Pool> pools(Groups now) {
    return now.all().stream()
        .flatMap(
            group ->
                region(group)
                    .map(r -> new Pool(r.device(), r.numaNode(), Groups.capacity(group)))
                    .stream())
        .toList();
  }

  @Override
  public OptionalInt numaNode(VolumeId id) {
    return groups
        .last()
        .flatMap(known -> known.find(id.value()))
        .map(place -> numaNode(place.group()))
        .orElse(OptionalInt.empty());
  }

  private OptionalInt numaNode(Group group) {
    return region(group).map(Region::numaNode).orElse(OptionalInt.empty());
  }

  private Optional<Region> region(Group group) {
    return Optional.ofNullable(prepared.regions().get(group.name()));
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
    return locked(() -> volumes.place(id).isPresent());
  }

  @Override
  public boolean isOwn(VolumeId id) {
    return locked(
        () ->
            volumes
                .cachedGroups(_ -> true)
                .find(id.value())
                .filter(place -> owner.isOfAnother(place.volume().tags()))
                .isEmpty());
  }

  @Override
  public void claim(Collection<VolumeId> ids) {
    locked(
        () -> {
          Groups now = volumes.cachedGroups(_ -> true);
          List<String> unclaimed =
              ids.stream()
                  .flatMap(id -> now.find(id.value()).stream())
                  .filter(place -> !OwnerTag.isClaimed(place.volume().tags()))
                  .map(place -> place.group().name() + "/" + place.volume().name())
                  .toList();
          if (!unclaimed.isEmpty()) {
            volumes.tag(unclaimed);
          }
          return unclaimed;
        });
  }

  @Override
  public List<String> unavailablePools() {
    return locked(
        () ->
            Stream.concat(
                    preparation.unavailable(prepared.groupNames()).stream(),
                    volumes.cachedGroups(_ -> true).unreadable().stream()
                        .map(group -> group + " (LVM cannot read it)"))
                .toList());
  }

  @Override
  public Optional<Device> find(VolumeId id) {
    return groups
        .last()
        .flatMap(known -> known.find(id.value()))
        .filter(LogicalVolumes::isActive)
        .flatMap(place -> device(place.volume()))
        .or(() -> locked(() -> activeDevice(id)));
  }

  @Override
  public Device create(VolumeId id, long sizeBytes, AccessModel accessModel, OptionalInt numaNode) {
    Predicate<Group> allowed = group -> Pool.isOn(numaNode(group), numaNode);
    eraser.forget(id);
    return locked(
        () -> {
          Groups now =
              volumes.cachedGroups(
                  g -> g.find(id.value()).isEmpty() && !g.fitting(sizeBytes, allowed).isEmpty());
          Optional<Place> same = now.find(id.value());
          if (same.isPresent()) {
            throw new DeviceException.Exists(id, same.get().volume().sizeBytes());
          }
          if (now.fitting(sizeBytes, allowed).isEmpty()) {
            long largest = now.capacity(prepared.totalBytes()).maxVolumeSize();
            throw DeviceException.NotEnoughSpace.on(numaNode, sizeBytes, largest, pools(now));
          }
          return volumes.createInFirst(now, id, sizeBytes, allowed);
        });
  }

  @Override
  public void delete(VolumeId id, boolean erase) {
    // under the lock: what is erased must have the size that the volume has now
    Optional<Device> device = locked(() -> activeDevice(id));
    if (device.isPresent()) {
      eraser.release(device.get(), erase);
      locked(() -> volumes.remove(id));
    } else {
      locked(() -> requireAllReadable(id));
    }
  }

  @Override
  public long roundedSize(VolumeId id, long sizeBytes) {
    return locked(
        () ->
            volumes
                .place(id)
                .map(place -> Groups.roundUp(sizeBytes, place.group().extentBytes()))
                .orElse(sizeBytes));
  }

  @Override
  public Device expand(VolumeId id, long sizeBytes) {
    return locked(
        () -> {
          // a report costs more than the change itself, so it is read only where the cached one
          // would refuse
          Groups now =
              volumes.cachedGroups(
                  g ->
                      g.find(id.value())
                          .filter(
                              place ->
                                  LogicalVolumes.isActive(place)
                                      && sizeBytes <= LogicalVolumes.possibleBytes(place))
                          .isPresent());
          Place place = now.find(id.value()).orElseThrow(() -> new DeviceException.NotFound(id));
          Volume volume = volumes.activated(place);
          return device(
                  volume.sizeBytes() < sizeBytes
                      ? volumes.extended(now, id, place, sizeBytes)
                      : volume)
              .orElseThrow(() -> new DeviceException.NotFound(id));
        });
  }

  private Optional<Device> activeDevice(VolumeId id) {
    return volumes.place(id).flatMap(place -> device(volumes.activated(place)));
  }

  /** A volume is known to be deleted only if every group that should exist can be read. */
  private Groups requireAllReadable(VolumeId id) {
    Groups now = volumes.cachedGroups(_ -> true);
    if (!now.isComplete()) {
      throw new DeviceException.ToolFailed(
          "remove the logical volume " + id,
          new IllegalStateException(
              "it may be in %s, which LVM cannot read: check the output of vgs"
                  .formatted(String.join(", ", now.unreadable()))));
    }
    return now;
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
