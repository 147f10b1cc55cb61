package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonValue;

/** How a PMEM-CSI driver divides the persistent memory of a node into volumes. */
public enum DeviceMode implements Choice {
  /** Logical volumes in one volume group per region. */
  LVM("lvm", true),
  /** One namespace of the region per volume. */
  DIRECT("direct", false),
  /** Sparse files on the node's disk, for trials on nodes without persistent memory. */
  FILE("file", true);

  private final String text;
  private final boolean expandable;

  DeviceMode(String text, boolean expandable) {
    this.text = text;
    this.expandable = expandable;
  }

  /** Whether a volume can be expanded. */
  public boolean isExpandable() {
    return expandable;
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
