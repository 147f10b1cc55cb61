package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonValue;

/** When the kubelet fetches an image. */
public enum PullPolicy implements Choice {
  ALWAYS("Always"),
  IF_NOT_PRESENT("IfNotPresent"),
  NEVER("Never");

  private final String text;

  PullPolicy(String text) {
    this.text = text;
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
