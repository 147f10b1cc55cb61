package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.lvm.LvmDevices.Prepared;
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
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares the regions, at start and when memory appears later: in each of them the configured
 * share of the memory becomes namespaces of the driver, and those become one volume group. Only
 * ever adds: a share that was lowered changes nothing, a raised one adds another namespace to the
 * group.
 */
public final class GroupSetup {
  private static final Logger LOG = LoggerFactory.getLogger(GroupSetup.class);

  /** Below two extents a group would have no space for a volume after its own bookkeeping. */
  private static final long USEFUL_BYTES = 8L << 20;

  private final Ndctl ndctl;
  private final Lvm lvm;
  private final CommandRunner runner;
  private final DriverName driver;
  private final PendingNamespaces pending;
  private final Predicate<Path> blank;

  /**
   * @param blank whether a device holds nothing where LVM would write
   */
  public GroupSetup(
      Ndctl ndctl,
      CommandRunner runner,
      DriverName driver,
      PendingNamespaces pending,
      Predicate<Path> blank) {
    this.ndctl = ndctl;
    this.driver = driver;
    this.lvm = new Lvm(runner);
    this.runner = runner;
    this.pending = pending;
    this.blank = blank;
  }

  /** Prepares the groups and returns their manager; 0 percent only uses existing ones. */
  public LvmDevices prepare(int pmemPercentage, Eraser eraser) {
    if (pmemPercentage < 0 || pmemPercentage > 100) {
      throw new IllegalArgumentException(
          "pmemPercentage %d is not between 0 and 100".formatted(pmemPercentage));
    }
    return new LvmDevices(
        runner,
        eraser,
        driver,
        prepare(pmemPercentage),
        new LvmDevices.Preparation() {
          @Override
          public Optional<Prepared> prepareNew(Prepared known) {
            return hasNewMemory(ndctl.regions(), known.groupNames(), pmemPercentage)
                ? Optional.of(prepare(pmemPercentage))
                : Optional.empty();
          }

          @Override
          public List<String> unavailable(List<String> groupNames) {
            return UnavailableGroups.among(
                ndctl.regions(), groupNames, group -> new GroupMembers(lvm).exists(group));
          }
        });
  }

  /** Whether a region has memory that should be in a group and is not. */
  static boolean hasNewMemory(List<Region> regions, List<String> groupNames, int pmemPercentage) {
    return pmemPercentage > 0
        && regions.stream()
            .filter(Region::isUsable)
            .anyMatch(
                region ->
                    missingBytes(region, pmemPercentage) > 0
                        || (!namespacesForGroup(region).isEmpty()
                            && !groupNames.contains(groupName(region))));
  }

  private Prepared prepare(int pmemPercentage) {
    try {
      if (pmemPercentage > 0) {
        refuseWhileCreating();
      }
      Map<Path, UUID> wiped = new LinkedHashMap<>();
      List<Region> regions = ndctl.regions();
      if (pmemPercentage > 0) {
        ndctl.refuseOrphans(
            regions.stream().flatMap(region -> namespacesForGroup(region).stream()).toList());
        regions = extended(cleaned(regions, wiped), pmemPercentage, wiped);
      }
      if (regions.isEmpty()) {
        return new Prepared(List.of(), 0, Map.of());
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
      return new Prepared(
          names,
          total,
          regions.stream().collect(Collectors.toMap(GroupSetup::groupName, Function.identity())));
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
    long target = size / 100 * pmemPercentage + size % 100 * pmemPercentage / 100;
    long have =
        region.namespaces().stream()
            .filter(n -> n.name().equals(Ndctl.GROUP_NAMESPACE))
            .mapToLong(Namespace::rawBytes)
            .sum();
    long missing = Math.clamp(target - have, 0, region.largestGap());
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
            pending.remove(uuid);
          }
        });
  }

  /** It may be a damaged group: creating a new one would destroy its volumes. */
  private static FatalException refusal(Region region, Namespace namespace, Path device) {
    return new FatalException(
        "namespace %s is named %s: expected the volume group %s on %s, or nothing; found something"
                .formatted(namespace.device(), Ndctl.GROUP_NAMESPACE, groupName(region), device)
            + " that LVM does not take for a member of a group. It may be a damaged group with"
            + " volumes: repair it (vgcfgrestore, pvck). If it is not needed, remove it: ndctl"
            + " destroy-namespace --force "
            + namespace.device());
  }

  /** A namespace that appears after the regions were listed would keep its old volume group. */
  private void refuseWhileCreating() {
    List<UUID> namespaces = pending.beingCreated();
    if (!namespaces.isEmpty()) {
      throw new FatalException(
          "ndctl is still creating namespaces for a start that was killed, with the UUIDs %s: start again when it has ended"
              .formatted(namespaces));
    }
  }

  /** Resumes where an earlier start was killed before its new namespace was in a group. */
  private List<Region> cleaned(List<Region> regions, Map<Path, UUID> wiped) {
    List<UUID> left = pending.recorded();
    for (UUID uuid : left) {
      Optional<Namespace> found = named(regions, uuid);
      if (found.isPresent()) {
        wipeOrRemove(found.get(), uuid, wiped);
      } else if (Region.disabled(regions).isEmpty()) {
        pending.remove(uuid);
      }
    }
    return left.isEmpty() ? regions : ndctl.regions();
  }

  private void wipeOrRemove(Namespace namespace, UUID uuid, Map<Path, UUID> wiped) {
    boolean complete =
        namespace.mode() == NamespaceMode.FSDAX && namespace.blockDevice().isPresent();
    if (complete) {
      Path device = namespace.blockDevice().orElseThrow();
      if (!pending.isWiped(uuid)) {
        lvm.wipeSignatures(device);
        pending.wiped(uuid);
      }
      wiped.put(device, uuid);
    } else if (!pending.isWiped(uuid)) {
      ndctl.destroy(namespace);
      pending.remove(uuid);
    }
    LOG.atWarn()
        .addKeyValue("namespace", namespace.device())
        .addKeyValue("complete", complete)
        .log("An earlier start was interrupted while it created this namespace.");
  }

  private List<Region> extended(List<Region> regions, int pmemPercentage, Map<Path, UUID> wiped) {
    List<Region> now = regions;
    for (Region region : regions) {
      long missing = region.isUsable() ? missingBytes(region, pmemPercentage) : 0;
      if (missing > 0) {
        UUID uuid = pending.record();
        ndctl.create(region, NamespaceMode.FSDAX, missing, Ndctl.GROUP_NAMESPACE, uuid);
        now = ndctl.regions();
        // before an old signature there can be taken for a valid one
        for (Path device : newDevices(region, now)) {
          lvm.wipeSignatures(device);
          pending.wiped(uuid);
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
