package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonValue;

/** How a PMEM-CSI driver divides the persistent memory of a node into volumes. */
public enum DeviceMode implements Choice {
  /** Logical volumes in one volume group per region. */
  LVM("lvm"),
  /** One namespace of the region per volume. */
  DIRECT("direct"),
  /** Sparse files on the node's disk, for trials on nodes without persistent memory. */
  FILE("file");

  private final String text;

  DeviceMode(String text) {
    this.text = text;
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
