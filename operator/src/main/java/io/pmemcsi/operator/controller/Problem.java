package io.pmemcsi.operator.controller;

import java.time.Duration;
import java.util.Optional;

/**
 * Why the desired state is not reached.
 *
 * @param message for the user: what is wrong and what to do
 * @param requeueAfter when to reconcile again, where that is known; else the back-off decides
 */
public record Problem(Cause cause, String message, Optional<Duration> requeueAfter) {

  /** What has to change first. */
  public enum Cause {
    /** The resource itself. */
    INVALID(true),
    /** Certificates that the resource names or contains. */
    CERTIFICATES(true),
    /** Another resource that has the same name or port. */
    CONFLICT(false),
    /** Volumes of a driver that the resource no longer names. */
    DRIVER_IN_USE(false),
    /** An object of a desired name that was not created for the resource. */
    NOT_OWNED(false),
    /** An object that is being deleted. */
    WAITING(false),
    /** Another controller that reverts each write. */
    CONTENDED(false),
    /** The server refuses an object. */
    REFUSED(false),
    /** The namespace is being deleted. */
    NAMESPACE_TERMINATING(false),
    /** The server fails. */
    SERVER_ERROR(false),
    /** The operator fails. */
    OPERATOR_ERROR(false);

    private final boolean watched;

    Cause(boolean watched) {
      this.watched = watched;
    }

    /** Whether its end is an event, so that nothing has to be polled. */
    boolean isWatched() {
      return watched;
    }
  }

  public Problem(Cause cause, String message) {
    this(cause, message, Optional.empty());
  }
}
