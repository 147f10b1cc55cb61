package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonValue;

/** What becomes of a volume whose claim is deleted. */
public enum ReclaimPolicy implements Choice {
  DELETE("Delete"),
  RETAIN("Retain"),
  RECYCLE("Recycle");

  private final String text;

  ReclaimPolicy(String text) {
    this.text = text;
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
