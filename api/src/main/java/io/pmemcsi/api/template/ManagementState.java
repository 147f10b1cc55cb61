package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonValue;
import io.pmemcsi.api.Choice;

/** Whether the operator manages the objects of a driver. */
public enum ManagementState implements Choice {
  /** Objects are created, repaired and removed. */
  MANAGED("Managed"),
  /** Objects are left alone, as they are. */
  UNMANAGED("Unmanaged");

  private final String text;

  ManagementState(String text) {
    this.text = text;
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
