package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonValue;

/** What happens to a driver whose resource is deleted while its volumes still exist. */
public enum DeletionPolicy implements Choice {
  /**
   * The driver stays until its last volume is deleted, or until an annotation forces the removal.
   */
  WHEN_UNUSED("WhenUnused"),
  /** The driver is removed immediately; mounted volumes stay mounted and are not cleaned up. */
  IMMEDIATE("Immediate");

  private final String text;

  DeletionPolicy(String text) {
    this.text = text;
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
