package io.pmemcsi.operator.guard;

import java.time.Duration;

/** Whether a driver whose resource is being deleted may be removed now. */
public sealed interface DeletionDecision {

  /** The driver may be removed. */
  record Go() implements DeletionDecision {}

  /**
   * The driver must stay, and with it the finalizer of its resource.
   *
   * @param message for the condition: what holds it back, and what to do
   * @param again when to look again; nothing wakes the reconciler earlier
   */
  record Hold(String message, Duration again) implements DeletionDecision {

    /** The type of the condition, whose status is then True. */
    public static final String CONDITION = "DeletionHeld";

    /** The reason of the condition. */
    public static final String REASON = "VolumesInUse";
  }
}
