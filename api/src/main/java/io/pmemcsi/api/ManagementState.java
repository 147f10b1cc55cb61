package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonValue;
import org.jspecify.annotations.Nullable;

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

  /**
   * Whether the operator may change the objects of a resource. Asked before anything is checked: an
   * invalid resource can be set aside, too.
   */
  public static boolean isManaged(@Nullable String written) {
    return !UNMANAGED.text.equals(written);
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
