package io.pmemcsi.api.template;

import com.fasterxml.jackson.annotation.JsonValue;
import io.pmemcsi.api.Choice;

/** How a changed template reaches the drivers on the nodes. */
public enum NodeUpdateStrategy implements Choice {
  /** Driver pods are replaced one after the other. */
  ROLLING("Rolling"),
  /** A driver pod is replaced when a user deletes it. */
  ON_DELETE("OnDelete"),
  /** A node is emptied of the driver's volumes before its driver pod is replaced. */
  DRAINING("Draining");

  private final String text;

  NodeUpdateStrategy(String text) {
    this.text = text;
  }

  @JsonValue
  @Override
  public String text() {
    return text;
  }
}
