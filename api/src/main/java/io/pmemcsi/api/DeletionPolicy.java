package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What happens to a driver whose resource is deleted while its volumes still exist. */
public enum DeletionPolicy {
  /** The driver stays until its last volume is gone, or until an annotation forces the removal. */
  @JsonProperty("WhenUnused")
  WHEN_UNUSED,
  /** The driver is removed at once; mounted volumes stay mounted with nobody to clean up. */
  @JsonProperty("Immediate")
  IMMEDIATE;
}
