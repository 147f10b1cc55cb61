package io.pmemcsi.operator.controller;

import io.pmemcsi.operator.apply.Outcome;
import java.util.List;

/**
 * Something that users should see below a resource in {@code kubectl describe}.
 *
 * @param reason one word
 */
public record EventMessage(boolean warning, String reason, String message) {

  /** What was done to objects, which is no change of a status. */
  static List<EventMessage> about(Outcome outcome) {
    return outcome.recreated().stream()
        .map(
            object ->
                normal(
                    "Recreated",
                    object
                        + " was deleted and created again: a field changed that cannot be changed"
                        + " in place"))
        .toList();
  }

  public static EventMessage normal(String reason, String message) {
    return new EventMessage(false, reason, message);
  }

  public static EventMessage warning(String reason, String message) {
    return new EventMessage(true, reason, message);
  }
}
