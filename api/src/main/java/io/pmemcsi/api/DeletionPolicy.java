package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonValue;
import org.jspecify.annotations.Nullable;

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

  /** The policy in a resource. An unknown value must not cost data: it is the safe policy. */
  public static DeletionPolicy of(@Nullable String written) {
    return written == null
        ? WHEN_UNUSED
        : Choice.find(DeletionPolicy.class, written).orElse(WHEN_UNUSED);
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
