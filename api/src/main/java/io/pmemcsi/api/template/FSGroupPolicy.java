package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonValue;
import io.pmemcsi.api.Choice;

/** Whether the kubelet changes the owner of files in a volume. */
public enum FSGroupPolicy implements Choice {
  READ_WRITE_ONCE_WITH_FS_TYPE("ReadWriteOnceWithFSType"),
  FILE("File"),
  NONE("None");

  private final String text;

  FSGroupPolicy(String text) {
    this.text = text;
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
