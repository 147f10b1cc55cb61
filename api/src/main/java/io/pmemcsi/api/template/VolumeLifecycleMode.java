package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonValue;
import io.pmemcsi.api.Choice;

/** A kind of volume that a driver offers. */
public enum VolumeLifecycleMode implements Choice {
  PERSISTENT("Persistent"),
  EPHEMERAL("Ephemeral");

  private final String text;

  VolumeLifecycleMode(String text) {
    this.text = text;
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
