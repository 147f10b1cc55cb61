package io.pmemcsi.driver.registry;

import io.grpc.Status;

/** How the call of a node has failed; the one place that knows what the codes of a node mean. */
record NodeStatus(Status.Code code) {

  boolean isNotFound() {
    return code == Status.Code.NOT_FOUND;
  }

  boolean isUnavailable() {
    return code == Status.Code.UNAVAILABLE;
  }

  CreateOutcome createOutcome() {
    return switch (code) {
      case OK -> throw new IllegalArgumentException("the call has not failed");
      case RESOURCE_EXHAUSTED -> CreateOutcome.INSUFFICIENT_CAPACITY;
      case INVALID_ARGUMENT,
          OUT_OF_RANGE,
          FAILED_PRECONDITION,
          NOT_FOUND,
          UNIMPLEMENTED,
          PERMISSION_DENIED,
          UNAUTHENTICATED ->
          CreateOutcome.REFUSED;
      case ALREADY_EXISTS -> CreateOutcome.EXISTS;
      case UNAVAILABLE, CANCELLED, DEADLINE_EXCEEDED, ABORTED -> CreateOutcome.UNCERTAIN;
      case INTERNAL, UNKNOWN, DATA_LOSS -> CreateOutcome.BROKEN;
    };
  }
}
