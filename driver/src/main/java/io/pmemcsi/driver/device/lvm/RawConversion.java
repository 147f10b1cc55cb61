package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.ndctl.Namespace;
import io.pmemcsi.driver.device.ndctl.NamespaceMode;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import io.pmemcsi.driver.device.ndctl.Region;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Converts memory that the driver would not use: raw namespaces, as virtual machines have them
 * whose memory has no labels. What they hold is lost, which is why an administrator has to ask for
 * this node by node.
 */
public final class RawConversion {
  private static final Logger LOG = LoggerFactory.getLogger(RawConversion.class);

  private final Ndctl ndctl;
  private final Lvm lvm;

  public RawConversion(Ndctl ndctl, CommandRunner runner) {
    this.ndctl = ndctl;
    this.lvm = new Lvm(runner);
  }

  /**
   * Converts everything that is raw and puts it into its region's volume group, with what an
   * interrupted conversion has left: namespaces with DAX, without a name and without a signature.
   * Those with a name are volumes or belong to others. Doing so again changes nothing.
   *
   * @return how many converted namespaces are in a volume group now
   * @throws FatalException when the driver would still find nothing to use on this node
   */
  public int convert() {
    try {
      int converted = 0;
      List<Region> usable = ndctl.regions().stream().filter(Region::isUsable).toList();
      ndctl.refuseOrphans(
          usable.stream()
              .flatMap(region -> region.namespaces().stream())
              .filter(n -> n.mode() == NamespaceMode.RAW || n.name().isEmpty())
              .toList());
      for (Region region : usable) {
        converted += convert(region);
      }
      requireSomethingToUse();
      return converted;
    } catch (ToolFailedException e) {
      throw new DeviceException.ToolFailed("convert raw namespaces", e);
    }
  }

  private int convert(Region region) {
    boolean anyRaw = false;
    for (Namespace namespace : region.namespaces()) {
      if (namespace.isReal() && namespace.mode() == NamespaceMode.RAW) {
        ndctl.convertRaw(region, namespace);
        anyRaw = true;
        LOG.atInfo()
            .addKeyValue("region", region.device())
            .addKeyValue("namespace", namespace.device())
            .log("Raw namespace converted.");
      }
    }
    Region now = anyRaw ? again(region) : region;
    List<Path> converted = withoutOld(region, now);
    converted.forEach(lvm::wipeSignatures);
    List<Path> devices =
        withDax(now)
            .filter(n -> n.name().isEmpty() || converted.contains(n.blockDevice().orElseThrow()))
            .flatMap(n -> n.blockDevice().stream())
            .toList();
    addAll(GroupSetup.groupName(now), devices);
    return devices.size();
  }

  /** What has come with this conversion: all that it held is lost already. */
  private static List<Path> withoutOld(Region before, Region now) {
    List<String> old = withDax(before).map(Namespace::device).toList();
    return withDax(now)
        .filter(namespace -> !old.contains(namespace.device()))
        .flatMap(namespace -> namespace.blockDevice().stream())
        .toList();
  }

  private static Stream<Namespace> withDax(Region region) {
    return region.namespaces().stream()
        .filter(n -> n.isReal() && n.mode() == NamespaceMode.FSDAX && n.blockDevice().isPresent());
  }

  private void addAll(String group, List<Path> devices) {
    try {
      new GroupMembers(lvm).add(group, devices);
    } catch (ToolFailedException e) {
      throw new DeviceException.ToolFailed(
          "put %s into volume group %s (if the content of a device is not needed, remove its signatures with wipefs --all)"
              .formatted(devices, group),
          e);
    }
  }

  private Region again(Region region) {
    return ndctl.regions().stream()
        .filter(r -> r.bus().equals(region.bus()) && r.device().equals(region.device()))
        .findFirst()
        .orElseThrow(
            () -> new FatalException("region " + region.device() + " is not found any more"));
  }

  private void requireSomethingToUse() {
    GroupMembers members = new GroupMembers(lvm);
    boolean found =
        ndctl.regions().stream()
            .filter(Region::isUsable)
            .anyMatch(region -> members.exists(GroupSetup.groupName(region)) || hasOwn(region));
    if (!found) {
      throw new FatalException(
          "no volume group and no suitable namespace found: this node has no persistent memory"
              + " that the driver could use");
    }
  }

  private static boolean hasOwn(Region region) {
    return region.namespaces().stream()
        .anyMatch(n -> n.mode() == NamespaceMode.FSDAX && n.name().equals(Ndctl.GROUP_NAMESPACE));
  }
}
