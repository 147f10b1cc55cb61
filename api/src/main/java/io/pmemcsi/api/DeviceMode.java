package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/** How a PMEM-CSI driver divides the persistent memory of a node into volumes. */
public enum DeviceMode {
  /** Logical volumes in one volume group per region. */
  @JsonProperty("lvm")
  LVM,
  /** One namespace of the region per volume. */
  @JsonProperty("direct")
  DIRECT;
}
