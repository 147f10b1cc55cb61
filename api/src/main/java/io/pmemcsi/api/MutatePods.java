package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Whether new pods that use PMEM-CSI volumes are marked for the scheduler extender. */
public enum MutatePods {
  /** A pod cannot be created while the webhook does not answer. */
  @JsonProperty("Always")
  ALWAYS,
  /** A pod is created unmarked when the webhook does not answer. */
  @JsonProperty("Try")
  TRY,
  /** There is no webhook. */
  @JsonProperty("Never")
  NEVER;
}
