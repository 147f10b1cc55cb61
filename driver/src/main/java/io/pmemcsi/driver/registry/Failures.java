package io.pmemcsi.driver.registry;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.base.error.Reason;

/** The error messages of failed calls to a peer. */
final class Failures {

  private Failures() {}

  /** The description from the peer, or the root cause of a lost connection. */
  static String text(StatusRuntimeException failure) {
    Status status = failure.getStatus();
    String description = status.getDescription() == null ? "" : status.getDescription();
    if (status.getCause() == null) {
      return description.isEmpty() ? status.getCode().toString() : description;
    }
    String reason = Reason.of(status.getCause());
    // "io exception" of gRPC has no information
    return description.isEmpty() || description.startsWith("io exception")
        ? reason
        : description + ": " + reason;
  }
}
