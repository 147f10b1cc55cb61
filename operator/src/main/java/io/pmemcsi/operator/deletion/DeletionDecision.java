package io.pmemcsi.operator.deletion;

import java.time.Duration;

/** Whether the driver of a resource that is being deleted may be removed now. */
public sealed interface DeletionDecision {

  /** The driver may be removed. */
  record Allow() implements DeletionDecision {}

  /**
   * The driver must stay, and with it the finalizer of its resource.
   *
   * @param message for the condition: what uses the driver, and what to do
   * @param requeueAfter when to decide again; volumes, attachments, pods and snapshots are not
   *     watched
   */
  record Hold(String message, Duration requeueAfter) implements DeletionDecision {

    /** The type of the condition, with status True. */
    public static final String CONDITION = "DeletionHeld";

    /** The reason of the condition. */
    public static final String REASON = "VolumesInUse";
  }
}
