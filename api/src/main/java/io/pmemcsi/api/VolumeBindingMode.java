package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonValue;

/** When a volume is created for a claim. */
public enum VolumeBindingMode implements Choice {
  IMMEDIATE("Immediate"),
  WAIT_FOR_FIRST_CONSUMER("WaitForFirstConsumer");

  private final String text;

  VolumeBindingMode(String text) {
    this.text = text;
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
