package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonValue;

/** What becomes of a snapshot whose VolumeSnapshot is deleted. */
public enum SnapshotDeletionPolicy implements Choice {
  DELETE("Delete"),
  RETAIN("Retain");

  private final String text;

  SnapshotDeletionPolicy(String text) {
    this.text = text;
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
