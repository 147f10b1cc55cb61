package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonValue;
import io.pmemcsi.api.Choice;

/** When a volume is made for a claim. */
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
