package io.pmemcsi.operator.controller;

/**
 * Something that users should see below a resource in {@code kubectl describe}.
 *
 * @param reason one word
 */
public record EventMessage(boolean warning, String reason, String message) {

  public static EventMessage normal(String reason, String message) {
    return new EventMessage(false, reason, message);
  }

  public static EventMessage warning(String reason, String message) {
    return new EventMessage(true, reason, message);
  }
}
