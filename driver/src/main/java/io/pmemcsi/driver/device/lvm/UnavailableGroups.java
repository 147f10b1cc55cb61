package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.driver.device.ndctl.Namespace;
import io.pmemcsi.driver.device.ndctl.NamespaceMode;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import io.pmemcsi.driver.device.ndctl.Region;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Where logical volumes may be that are in none of the groups in use. */
final class UnavailableGroups {
  private UnavailableGroups() {}

  /**
   * Names the places, each with its problem, except disabled regions: they have their name only.
   *
   * @param used the groups in use
   * @param exists whether LVM has a group of that name now
   */
  static List<String> among(List<Region> regions, List<String> used, Predicate<String> exists) {
    List<String> unavailable = new ArrayList<>(Region.disabled(regions));
    for (Region region : regions) {
      if (region.persistent() && region.enabled()) {
        unavailable.addAll(inEnabled(region, used, exists));
      }
    }
    return unavailable;
  }

  private static List<String> inEnabled(
      Region region, List<String> used, Predicate<String> exists) {
    List<String> off =
        region.namespaces().stream()
            .filter(UnavailableGroups::isOff)
            .map(namespace -> namespace.device() + " (disabled)")
            .toList();
    String group = GroupSetup.groupName(region);
    if (!off.isEmpty() || used.contains(group) || !(hasOwn(region) || exists.test(group))) {
      return off;
    }
    return List.of(
        region.device()
            + (region.readOnly() ? " (read-only)" : " (enabled after the start, not in use yet)"));
  }

  /** What has no name may be memory without labels, which cannot have one. */
  private static boolean isOff(Namespace namespace) {
    boolean nameless =
        namespace.name().isEmpty()
            && (namespace.mode() == NamespaceMode.FSDAX || namespace.mode() == NamespaceMode.RAW);
    return namespace.isReal()
        && namespace.blockDevice().isEmpty()
        && (nameless || isOwn(namespace));
  }

  private static boolean hasOwn(Region region) {
    return region.namespaces().stream().anyMatch(n -> n.isReal() && isOwn(n));
  }

  private static boolean isOwn(Namespace namespace) {
    return namespace.name().equals(Ndctl.GROUP_NAMESPACE);
  }
}
