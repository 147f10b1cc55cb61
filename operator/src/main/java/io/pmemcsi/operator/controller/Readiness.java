package io.pmemcsi.operator.controller;

import io.pmemcsi.api.StandardCondition;

/**
 * Whether a driver can be used, for the condition {@code Ready} of every kind.
 *
 * @param reason in one word
 */
public record Readiness(boolean isReady, String reason, String message) {

  private static final String TERMINATING = "Terminating";

  public static Readiness ready(String reason, String message) {
    return new Readiness(true, reason, message);
  }

  public static Readiness notReady(String reason, String message) {
    return new Readiness(false, reason, message);
  }

  /** The status of the condition. */
  public String status() {
    return isReady ? StandardCondition.TRUE : StandardCondition.FALSE;
  }

  /**
   * The same of a deleted resource: no workload may rely on its driver, even if that still runs.
   */
  Readiness inDeletion() {
    return isReady ? notReady(TERMINATING, "The resource was deleted.") : this;
  }
}
