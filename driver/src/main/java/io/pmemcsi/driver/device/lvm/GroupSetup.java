package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.driver.command.CommandRunner;
import io.pmemcsi.driver.command.ToolFailedException;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.ndctl.Namespace;
import io.pmemcsi.driver.device.ndctl.NamespaceMode;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import io.pmemcsi.driver.device.ndctl.Region;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares the regions at start: in each of them the wanted share of the memory becomes namespaces
 * of ours, and those become one volume group. Only ever adds: a share that was lowered changes
 * nothing, a raised one adds another namespace to the group.
 */
public final class GroupSetup {
  private static final Logger LOG = LoggerFactory.getLogger(GroupSetup.class);

  /** Below two extents a group would have no room for a volume after its own bookkeeping. */
  private static final long USEFUL_BYTES = 8L << 20;

  private final Ndctl ndctl;
  private final Lvm lvm;
  private final CommandRunner runner;
  private final FreshNamespaces fresh;

  public GroupSetup(Ndctl ndctl, CommandRunner runner, FreshNamespaces fresh) {
    this.ndctl = ndctl;
    this.lvm = new Lvm(runner);
    this.runner = runner;
    this.fresh = fresh;
  }

  /** Does what is needed and gives the manager of the groups; 0 percent only uses what is there. */
  public LvmDevices prepare(int pmemPercentage, Eraser eraser) {
    if (pmemPercentage < 0 || pmemPercentage > 100) {
      throw new IllegalArgumentException(
          "pmemPercentage %d is not between 0 and 100".formatted(pmemPercentage));
    }
    try {
      List<Region> regions =
          pmemPercentage > 0 ? grown(cleaned(ndctl.regions()), pmemPercentage) : ndctl.regions();
      if (regions.isEmpty()) {
        return new LvmDevices(runner, eraser, List.of(), 0, () -> List.of());
      }
      GroupMembers members = new GroupMembers(lvm);
      for (Region region : regions) {
        if (region.isUsable() && pmemPercentage > 0) {
          members.add(groupName(region), devicesForGroup(region));
        }
      }
      List<String> names =
          regions.stream()
              .filter(Region::isUsable)
              .map(GroupSetup::groupName)
              .filter(members::exists)
              .toList();
      if (pmemPercentage > 0 && !names.isEmpty()) {
        lvm.activateGroups(names);
      }
      long total = regions.stream().mapToLong(Region::sizeBytes).sum();
      return new LvmDevices(runner, eraser, names, total, () -> Region.disabled(ndctl.regions()));
    } catch (ToolFailedException e) {
      throw new DeviceException.ToolFailed("prepare the volume groups", e);
    }
  }

  /** The group of a region, for example ndbus0region0fsdax. */
  static String groupName(Region region) {
    return region.bus() + region.device() + "fsdax";
  }

  /** How large another namespace for the group has to be; zero for none. */
  static long missingBytes(Region region, int pmemPercentage) {
    long size = region.sizeBytes();
    long wanted = size / 100 * pmemPercentage + size % 100 * pmemPercentage / 100;
    long have =
        region.namespaces().stream()
            .filter(n -> n.name().equals(Ndctl.GROUP_NAMESPACE))
            .mapToLong(Namespace::rawBytes)
            .sum();
    long missing = Math.clamp(wanted - have, 0, region.largestGap());
    long whole = missing - missing % region.unitBytes();
    return NamespaceMode.FSDAX.usableBytes(whole) >= USEFUL_BYTES ? whole : 0;
  }

  /** Goes on where an earlier start was killed between making a namespace and wiping it. */
  private List<Region> cleaned(List<Region> regions) {
    List<UUID> left = fresh.notWiped();
    for (UUID uuid : left) {
      named(regions, uuid).ifPresent(this::wipeOrRemove);
      fresh.wiped(uuid);
    }
    return left.isEmpty() ? regions : ndctl.regions();
  }

  private void wipeOrRemove(Namespace namespace) {
    boolean whole = namespace.mode() == NamespaceMode.FSDAX && namespace.blockDevice().isPresent();
    if (whole) {
      lvm.wipeSignatures(namespace.blockDevice().orElseThrow());
    } else {
      ndctl.destroy(namespace);
    }
    LOG.atWarn()
        .addKeyValue("namespace", namespace.device())
        .addKeyValue("removed", !whole)
        .log("An earlier start was interrupted while it made this namespace.");
  }

  private List<Region> grown(List<Region> regions, int pmemPercentage) {
    List<Region> now = regions;
    for (Region region : regions) {
      long missing = region.isUsable() ? missingBytes(region, pmemPercentage) : 0;
      if (missing > 0) {
        UUID uuid = fresh.announce();
        ndctl.create(region, NamespaceMode.FSDAX, missing, Ndctl.GROUP_NAMESPACE, uuid);
        now = ndctl.regions();
        // before anybody can take an old signature there for a living one
        wipeNew(region, now);
        fresh.wiped(uuid);
        LOG.atInfo()
            .addKeyValue("region", region.device())
            .addKeyValue("bytes", missing)
            .log("Namespace for the volume group created.");
      }
    }
    return now;
  }

  private void wipeNew(Region before, List<Region> now) {
    List<Path> old = devicesForGroup(before);
    now.stream()
        .filter(region -> region.device().equals(before.device()))
        .flatMap(region -> devicesForGroup(region).stream())
        .filter(device -> !old.contains(device))
        .forEach(lvm::wipeSignatures);
  }

  private static Optional<Namespace> named(List<Region> regions, UUID uuid) {
    return regions.stream()
        .flatMap(region -> region.namespaces().stream())
        .filter(namespace -> namespace.isReal() && namespace.uuid().equals(uuid.toString()))
        .findFirst();
  }

  private static List<Path> devicesForGroup(Region region) {
    return region.namespaces().stream()
        .filter(n -> n.isReal() && n.mode() == NamespaceMode.FSDAX)
        .filter(n -> n.name().equals(Ndctl.GROUP_NAMESPACE))
        .flatMap(n -> n.blockDevice().stream())
        .toList();
  }
}
