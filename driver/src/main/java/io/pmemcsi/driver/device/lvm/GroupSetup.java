package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.ndctl.Namespace;
import io.pmemcsi.driver.device.ndctl.NamespaceMode;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import io.pmemcsi.driver.device.ndctl.Region;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
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
  private final PendingNamespaces fresh;
  private final Predicate<Path> blank;

  /**
   * @param blank whether a device holds nothing where LVM would write
   */
  public GroupSetup(
      Ndctl ndctl, CommandRunner runner, PendingNamespaces fresh, Predicate<Path> blank) {
    this.ndctl = ndctl;
    this.lvm = new Lvm(runner);
    this.runner = runner;
    this.fresh = fresh;
    this.blank = blank;
  }

  /** Does what is needed and gives the manager of the groups; 0 percent only uses what is there. */
  public LvmDevices prepare(int pmemPercentage, Eraser eraser) {
    if (pmemPercentage < 0 || pmemPercentage > 100) {
      throw new IllegalArgumentException(
          "pmemPercentage %d is not between 0 and 100".formatted(pmemPercentage));
    }
    try {
      if (pmemPercentage > 0) {
        refuseWhileMade();
      }
      Map<Path, UUID> wiped = new LinkedHashMap<>();
      List<Region> regions =
          pmemPercentage > 0
              ? grown(cleaned(ndctl.regions(), wiped), pmemPercentage, wiped)
              : ndctl.regions();
      if (regions.isEmpty()) {
        return new LvmDevices(runner, eraser, List.of(), 0, () -> hidden(List.of()));
      }
      GroupMembers members = new GroupMembers(lvm);
      if (pmemPercentage > 0) {
        join(regions.stream().filter(Region::isUsable).toList(), members, wiped);
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
      return new LvmDevices(runner, eraser, names, total, () -> hidden(names));
    } catch (ToolFailedException e) {
      throw new DeviceException.ToolFailed("prepare the volume groups", e);
    }
  }

  private List<String> hidden(List<String> names) {
    return UnavailableGroups.among(
        ndctl.regions(), names, group -> new GroupMembers(lvm).exists(group));
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

  private void join(List<Region> regions, GroupMembers members, Map<Path, UUID> wiped) {
    for (Region region : regions) {
      for (Namespace namespace : namespacesForGroup(region)) {
        Path device = namespace.blockDevice().orElseThrow();
        if (!members.has(device) && !wiped.containsKey(device) && !blank.test(device)) {
          throw refusal(region, namespace, device);
        }
      }
    }
    for (Region region : regions) {
      members.add(groupName(region), devicesForGroup(region));
    }
    wiped.forEach(
        (device, uuid) -> {
          if (members.has(device)) {
            fresh.forget(uuid);
          }
        });
  }

  /** A group that was damaged looks like this: making a new one would be the end of its volumes. */
  private static FatalException refusal(Region region, Namespace namespace, Path device) {
    return new FatalException(
        "namespace %s is named %s: expected the volume group %s on %s, or nothing; found something"
                .formatted(namespace.device(), Ndctl.GROUP_NAMESPACE, groupName(region), device)
            + " that LVM does not take for a member of a group. It may be a damaged group with"
            + " volumes: repair it (vgcfgrestore, pvck). If nobody needs it, remove it: ndctl"
            + " destroy-namespace --force "
            + namespace.device());
  }

  /** What shows up after the look at the regions would keep the groups of an earlier life. */
  private void refuseWhileMade() {
    List<UUID> namespaces = fresh.beingMade();
    if (!namespaces.isEmpty()) {
      throw new FatalException(
          "ndctl is still making namespaces for a start that was killed, with the UUIDs %s: start again when it has ended"
              .formatted(namespaces));
    }
  }

  /** Goes on where an earlier start was killed before the namespace it made was in a group. */
  private List<Region> cleaned(List<Region> regions, Map<Path, UUID> wiped) {
    List<UUID> left = fresh.announced();
    for (UUID uuid : left) {
      Optional<Namespace> found = named(regions, uuid);
      if (found.isPresent()) {
        wipeOrRemove(found.get(), uuid, wiped);
      } else if (Region.disabled(regions).isEmpty()) {
        fresh.forget(uuid);
      }
    }
    return left.isEmpty() ? regions : ndctl.regions();
  }

  private void wipeOrRemove(Namespace namespace, UUID uuid, Map<Path, UUID> wiped) {
    boolean whole = namespace.mode() == NamespaceMode.FSDAX && namespace.blockDevice().isPresent();
    if (whole) {
      Path device = namespace.blockDevice().orElseThrow();
      if (!fresh.isWiped(uuid)) {
        lvm.wipeSignatures(device);
        fresh.wiped(uuid);
      }
      wiped.put(device, uuid);
    } else if (!fresh.isWiped(uuid)) {
      ndctl.destroy(namespace);
      fresh.forget(uuid);
    }
    LOG.atWarn()
        .addKeyValue("namespace", namespace.device())
        .addKeyValue("whole", whole)
        .log("An earlier start was interrupted while it made this namespace.");
  }

  private List<Region> grown(List<Region> regions, int pmemPercentage, Map<Path, UUID> wiped) {
    List<Region> now = regions;
    for (Region region : regions) {
      long missing = region.isUsable() ? missingBytes(region, pmemPercentage) : 0;
      if (missing > 0) {
        UUID uuid = fresh.announce();
        ndctl.create(region, NamespaceMode.FSDAX, missing, Ndctl.GROUP_NAMESPACE, uuid);
        now = ndctl.regions();
        // before anybody can take an old signature there for a living one
        for (Path device : newDevices(region, now)) {
          lvm.wipeSignatures(device);
          fresh.wiped(uuid);
          wiped.put(device, uuid);
        }
        LOG.atInfo()
            .addKeyValue("region", region.device())
            .addKeyValue("bytes", missing)
            .log("Namespace for the volume group created.");
      }
    }
    return now;
  }

  private static List<Path> newDevices(Region before, List<Region> now) {
    List<Path> old = devicesForGroup(before);
    return now.stream()
        .filter(region -> region.device().equals(before.device()))
        .flatMap(region -> devicesForGroup(region).stream())
        .filter(device -> !old.contains(device))
        .toList();
  }

  private static Optional<Namespace> named(List<Region> regions, UUID uuid) {
    return regions.stream()
        .flatMap(region -> region.namespaces().stream())
        .filter(namespace -> namespace.isReal() && namespace.uuid().equals(uuid.toString()))
        .findFirst();
  }

  private static List<Path> devicesForGroup(Region region) {
    return namespacesForGroup(region).stream().flatMap(n -> n.blockDevice().stream()).toList();
  }

  private static List<Namespace> namespacesForGroup(Region region) {
    return region.namespaces().stream()
        .filter(n -> n.isReal() && n.mode() == NamespaceMode.FSDAX)
        .filter(n -> n.name().equals(Ndctl.GROUP_NAMESPACE) && n.blockDevice().isPresent())
        .toList();
  }
}
