package io.pmemcsi.driver.registry;

import io.grpc.Status;

/** What a failed CreateVolume call means for the volume on the called node. */
enum CreateOutcome {
  /** The node has no room; another node may have. */
  NO_ROOM,
  /** The node refused; others would do the same. */
  REFUSED,
  /** The volume is there, and is not what was asked for. */
  EXISTS,
  /** The node may have created the volume, or may still do so. */
  UNCERTAIN,
  /** Something is wrong with the node, which may have left something behind. */
  BROKEN;

  static CreateOutcome of(Status.Code code) {
    return switch (code) {
      case OK -> throw new IllegalArgumentException("the call has not failed");
      case RESOURCE_EXHAUSTED -> NO_ROOM;
      case INVALID_ARGUMENT,
          OUT_OF_RANGE,
          FAILED_PRECONDITION,
          NOT_FOUND,
          UNIMPLEMENTED,
          PERMISSION_DENIED,
          UNAUTHENTICATED ->
          REFUSED;
      case ALREADY_EXISTS -> EXISTS;
      case UNAVAILABLE, CANCELLED, DEADLINE_EXCEEDED, ABORTED -> UNCERTAIN;
      case INTERNAL, UNKNOWN, DATA_LOSS -> BROKEN;
    };
  }
}
