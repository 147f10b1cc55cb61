package io.pmemcsi.driver.registry;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.base.error.Reason;

/** Why a call to the other side failed, in words. */
final class Failures {

  private Failures() {}

  /** What the peer said; for a lost connection what lies at the bottom of it. */
  static String text(StatusRuntimeException failure) {
    Status status = failure.getStatus();
    String said = status.getDescription() == null ? "" : status.getDescription();
    if (status.getCause() == null) {
      return said.isEmpty() ? status.getCode().toString() : said;
    }
    String reason = Reason.of(status.getCause());
    // gRPC's "io exception" says nothing
    return said.isEmpty() || said.startsWith("io exception") ? reason : said + ": " + reason;
  }

  /** The same failure, with the node in its text. */
  static StatusRuntimeException onNode(String nodeId, StatusRuntimeException failure) {
    String text = text(failure);
    String prefix = nodeId + ": ";
    return failure
        .getStatus()
        .getCode()
        .toStatus()
        .withDescription(text.startsWith(prefix) ? text : prefix + text)
        .asRuntimeException();
  }
}
