package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.driver.device.lvm.LvmReport.PhysicalVolume;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Which devices are in a volume group, of any name; adds devices to one. */
final class GroupMembers {
  private static final Logger LOG = LoggerFactory.getLogger(GroupMembers.class);

  private final Lvm lvm;
  private final Set<Path> taken = new HashSet<>();
  private final Set<String> groups = new HashSet<>();

  GroupMembers(Lvm lvm) {
    this.lvm = lvm;
    for (PhysicalVolume volume : lvm.physicalVolumes()) {
      if (!volume.group().isEmpty()) {
        taken.add(volume.device());
        groups.add(volume.group());
      }
    }
  }

  boolean exists(String group) {
    return groups.contains(group);
  }

  boolean has(Path device) {
    return taken.contains(device);
  }

  /** Adds the devices that are in no group yet, and creates the group where there is none. */
  void add(String group, List<Path> devices) {
    List<Path> missing = devices.stream().filter(device -> !taken.contains(device)).toList();
    if (missing.isEmpty()) {
      return;
    }
    if (exists(group)) {
      lvm.extendGroup(group, missing);
    } else {
      lvm.createGroup(group, missing);
    }
    taken.addAll(missing);
    groups.add(group);
    LOG.atInfo()
        .addKeyValue("group", group)
        .addKeyValue("devices", missing)
        .log("Volume group has new devices.");
  }
}
