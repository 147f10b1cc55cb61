package io.pmemcsi.operator.controller;

import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import java.util.Optional;

/** What to do with a resource, whatever its kind. */
sealed interface Lifecycle {

  /**
   * The driver is deployed.
   *
   * @param hold why it is kept although the resource is deleted
   */
  record Deploy(Optional<Hold> hold) implements Lifecycle {}

  /** The objects are left as they are. */
  record LeaveAlone() implements Lifecycle {}

  /** The objects outlive the resource. */
  record Release() implements Lifecycle {}

  /** The objects are deleted, then the resource. */
  record Remove() implements Lifecycle {}

  /** The resource is deleted as soon as other controllers allow it. */
  record Finished() implements Lifecycle {}

  /**
   * Decides; pure.
   *
   * @param finalizer whether the resource has the operator's finalizer
   * @param hold what blocks the deletion
   */
  static Lifecycle decide(
      boolean deleted, boolean finalizer, boolean managed, Optional<Hold> hold) {
    if (!deleted) {
      return managed ? new Deploy(Optional.empty()) : new LeaveAlone();
    }
    if (!finalizer) {
      return new Finished();
    }
    if (!managed) {
      return new Release();
    }
    return hold.isPresent() ? new Deploy(hold) : new Remove();
  }
}
