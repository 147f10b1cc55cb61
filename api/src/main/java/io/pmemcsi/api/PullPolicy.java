package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonProperty;

/** When the kubelet fetches an image. */
public enum PullPolicy {
  @JsonProperty("Always")
  ALWAYS,
  @JsonProperty("IfNotPresent")
  IF_NOT_PRESENT,
  @JsonProperty("Never")
  NEVER;
}
