package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.base.names.DriverName;
import java.util.List;

/**
 * The LVM tag that names the driver which a logical volume belongs to: several drivers on a node
 * share volume groups. Volumes of earlier releases have none until their driver starts.
 */
record OwnerTag(DriverName driver) {
  private static final String PREFIX = "pmem-csi.driver=";

  String text() {
    return PREFIX + driver.value();
  }

  /** Whether a volume with these tags belongs to another driver. */
  boolean isOfAnother(List<String> tags) {
    return isClaimed(tags) && !tags.contains(text());
  }

  /** Whether a volume with these tags belongs to any driver. */
  static boolean isClaimed(List<String> tags) {
    return tags.stream().anyMatch(tag -> tag.startsWith(PREFIX));
  }
}
