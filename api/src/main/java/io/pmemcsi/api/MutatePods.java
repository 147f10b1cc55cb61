package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonValue;

/** Whether new pods that use PMEM-CSI volumes are marked for the scheduler extender. */
public enum MutatePods implements Choice {
  /** A pod cannot be created while the webhook does not answer. */
  ALWAYS("Always"),
  /** A pod is created unmarked when the webhook does not answer. */
  TRY("Try"),
  /** There is no webhook. */
  NEVER("Never");

  private final String text;

  MutatePods(String text) {
    this.text = text;
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
