package io.pmemcsi.driver.device.direct;

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
import io.pmemcsi.driver.device.ndctl.Namespace;
import io.pmemcsi.driver.device.ndctl.NamespaceMode;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import io.pmemcsi.driver.device.ndctl.Region;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Volumes as namespaces that have the volume's ID as their name.
 *
 * <p>A volume is in one gap of one region, so that the largest possible volume can be smaller than
 * what is free. The kernel supports one change at a time, so all commands run under one lock;
 * erasing does not, and a volume that is ready for use is found in the cache without the lock.
 */
public final class DirectDevices implements DeviceManager {
  private static final Logger LOG = LoggerFactory.getLogger(DirectDevices.class);

  private final Ndctl ndctl;
  private final OwnerUuid uuids;
  private final Eraser eraser;
  private final ExpiringCache<List<Region>> regions;
  private final ReentrantLock lock = new ReentrantLock(true);

  public DirectDevices(Ndctl ndctl, DriverName driver, Eraser eraser) {
    this.uuids = new OwnerUuid(driver);
    this.ndctl = ndctl;
    this.eraser = eraser;
    this.regions = new ExpiringCache<>(ndctl::regions);
  }

  @Override
  public DeviceMode mode() {
    return DeviceMode.DIRECT;
  }

  @Override
  public Capacity capacity() {
    return locked(() -> capacity(regions.getIf(_ -> true)));
  }

  /**
   * For volumes with DAX. Each volume has metadata of its own, and none is larger than the largest
   * gap, so what is available is counted in volumes of that size.
   */
  static Capacity capacity(List<Region> regions) {
    return regions.stream().map(DirectDevices::capacity).reduce(Capacity.NONE, Capacity::plus);
  }

  private static Capacity capacity(Region region) {
    return region.isUsable()
        ? new Capacity(
            NamespaceMode.FSDAX.usableBytes(region.largestGap()),
            region.usableInGaps(NamespaceMode.FSDAX),
            region.sizeBytes(),
            region.sizeBytes())
        : new Capacity(0, 0, 0, region.sizeBytes());
  }

  @Override
  public List<Pool> pools() {
    return locked(() -> pools(regions.getIf(_ -> true)));
  }

  private static List<Pool> pools(List<Region> regions) {
    return regions.stream()
        .filter(Region::isUsable)
        .map(region -> new Pool(region.device(), region.numaNode(), capacity(region)))
        .toList();
  }

  @Override
  public OptionalInt numaNode(VolumeId id) {
    return regions.last().stream()
        .flatMap(List::stream)
        .filter(region -> named(List.of(region), id).isPresent())
        .flatMapToInt(region -> region.numaNode().stream())
        .findFirst();
  }

  @Override
  public List<Device> list() {
    return locked(
        () ->
            namespaces(regions.refresh())
                .flatMap(namespace -> device(namespace).stream())
                .sorted((a, b) -> a.id().compareTo(b.id()))
                .toList());
  }

  @Override
  public List<VolumeId> incomplete() {
    return locked(
        () ->
            namespaces(regions.getIf(_ -> true))
                .filter(namespace -> device(namespace).isEmpty())
                .flatMap(namespace -> VolumeId.parse(namespace.name()).stream())
                .toList());
  }

  /** Other programs give namespaces names, too. */
  @Override
  public boolean isOwn(VolumeId id) {
    return id.isFromName()
        && locked(
            () ->
                named(regions.getIf(_ -> true), id)
                    .filter(namespace -> uuids.isOfAnother(namespace.uuid()))
                    .isEmpty());
  }

  @Override
  public boolean exists(VolumeId id) {
    return locked(() -> namespace(id).isPresent());
  }

  @Override
  public List<String> unavailablePools() {
    return locked(() -> Region.disabled(regions.refresh()));
  }

  @Override
  public Optional<Device> find(VolumeId id) {
    return regions
        .last()
        .flatMap(known -> named(known, id))
        .filter(this::isReady)
        .flatMap(DirectDevices::device)
        .or(() -> locked(() -> enabledDevice(id)));
  }

  private Optional<Device> enabledDevice(VolumeId id) {
    Optional<Namespace> found = namespace(id);
    if (found.filter(n -> n.isVolume() && n.blockDevice().isEmpty()).isPresent()) {
      change("enable the namespace of volume " + id, () -> ndctl.enable(found.get()));
      return named(regions.refresh(), id).flatMap(DirectDevices::device);
    }
    return found.flatMap(DirectDevices::device);
  }

  @Override
  public Device create(VolumeId id, long sizeBytes, AccessModel accessModel, OptionalInt numaNode) {
    NamespaceMode mode =
        switch (accessModel) {
          case APP_DIRECT -> NamespaceMode.FSDAX;
          case FILE_IO -> NamespaceMode.SECTOR;
        };
    eraser.forget(id);
    return locked(
        () -> {
          List<Region> now =
              regions.getIf(
                  r ->
                      named(r, id).isEmpty()
                          && !candidates(r, mode, sizeBytes, numaNode).isEmpty());
          Optional<Namespace> same = named(now, id);
          if (same.isPresent()) {
            if (same.get().isVolume()) {
              throw new DeviceException.Exists(id, same.get().usableBytes());
            }
            destroy(id, same.get()); // its creation was interrupted
          }
          List<Region> candidates = candidates(now, mode, sizeBytes, numaNode);
          if (candidates.isEmpty()) {
            throw DeviceException.NotEnoughSpace.on(
                numaNode, sizeBytes, largest(now, mode), pools(now));
          }
          createInFirst(candidates, mode, id, sizeBytes);
          return named(regions.refresh(), id)
              .flatMap(DirectDevices::device)
              .orElseThrow(() -> new DeviceException.NotFound(id));
        });
  }

  @Override
  public void delete(VolumeId id, boolean erase) {
    Optional<Device> device = locked(() -> enabledDevice(id)).or(() -> raw(id));
    if (device.isPresent()) {
      eraser.release(device.get(), erase);
    }
    // a namespace without a device is one that was never finished
    locked(
        () -> {
          Optional<Namespace> namespace = namespace(id);
          namespace.ifPresent(n -> destroy(id, n));
          return namespace;
        });
  }

  /**
   * A namespace that the kernel shows without its structure, incomplete or damaged: it may be in
   * use.
   */
  private Optional<Device> raw(VolumeId id) {
    return locked(
        () ->
            namespace(id)
                .flatMap(n -> n.blockDevice().map(path -> new Device(id, path, n.usableBytes()))));
  }

  @Override
  public long roundedSize(VolumeId id, long sizeBytes) {
    return sizeBytes;
  }

  @Override
  public Device expand(VolumeId id, long sizeBytes) {
    Device device = find(id).orElseThrow(() -> new DeviceException.NotFound(id));
    if (device.sizeBytes() >= sizeBytes) {
      return device;
    }
    throw new DeviceException.Unsupported(DeviceMode.DIRECT, "expansion of volumes");
  }

  /** The regions where such a volume fits, in order. */
  private static List<Region> candidates(
      List<Region> regions, NamespaceMode mode, long bytes, OptionalInt numaNode) {
    return regions.stream()
        .filter(Region::isUsable)
        .filter(region -> Pool.isOn(region.numaNode(), numaNode))
        .filter(region -> mode.usableBytes(region.largestGap()) >= Math.max(1, bytes))
        .toList();
  }

  private static long largest(List<Region> regions, NamespaceMode mode) {
    return regions.stream()
        .filter(Region::isUsable)
        .mapToLong(region -> mode.usableBytes(region.largestGap()))
        .max()
        .orElse(0);
  }

  private void createInFirst(
      List<Region> candidates, NamespaceMode mode, VolumeId id, long sizeBytes) {
    for (int i = 0; i < candidates.size(); i++) {
      Region region = candidates.get(i);
      long raw = mode.rawBytes(sizeBytes, region.unitBytes());
      try {
        ndctl.create(region, mode, raw, id.value(), uuids.create());
        return;
      } catch (ToolFailedException e) {
        Cancellation.uncancellable(() -> removeLeftover(id));
        // one that was killed may go on in the kernel: two of one name are unusable
        boolean itselfEnded = e.reason() == ToolFailedException.Reason.EXIT_CODE;
        if (!itselfEnded || i == candidates.size() - 1) {
          throw new DeviceException.ToolFailed("create a namespace for volume " + id, e);
        }
        LOG.atWarn()
            .addKeyValue("region", region.device())
            .addKeyValue("error", e.getMessage())
            .log("The namespace was not created in this region, trying the next one.");
      }
    }
  }

  /** A failed creation can leave a namespace that has its name but is not ready for use. */
  private void removeLeftover(VolumeId id) {
    named(regions.refresh(), id).ifPresent(n -> destroy(id, n));
  }

  private void destroy(VolumeId id, Namespace namespace) {
    change("remove the namespace of volume " + id, () -> ndctl.destroy(namespace));
  }

  private void change(String operation, Runnable command) {
    regions.invalidate();
    try {
      command.run();
    } catch (ToolFailedException e) {
      throw new DeviceException.ToolFailed(operation, e);
    }
  }

  private Optional<Namespace> namespace(VolumeId id) {
    return named(regions.getIf(r -> named(r, id).map(this::isReady).orElse(true)), id);
  }

  /** Whether a namespace has its block device, under the name that it had when it was listed. */
  private boolean isReady(Namespace namespace) {
    return namespace.blockDevice().isPresent() && ndctl.isStill(namespace);
  }

  private static Optional<Namespace> named(List<Region> regions, VolumeId id) {
    return namespaces(regions).filter(n -> n.name().equals(id.value())).findFirst();
  }

  /** Those that can be volumes: the ones of volume groups and those without a name are not. */
  private static Stream<Namespace> namespaces(List<Region> regions) {
    return regions.stream()
        .flatMap(region -> region.namespaces().stream())
        .filter(Namespace::isReal)
        .filter(n -> !n.name().isEmpty() && !n.name().equals(Ndctl.GROUP_NAMESPACE));
  }

  private static Optional<Device> device(Namespace namespace) {
    Optional<Path> path = namespace.blockDevice();
    return VolumeId.parse(namespace.name())
        .filter(_ -> namespace.isVolume())
        .flatMap(id -> path.map(p -> new Device(id, p, namespace.usableBytes())));
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
