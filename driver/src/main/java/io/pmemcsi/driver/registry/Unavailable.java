package io.pmemcsi.driver.registry;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Collection;

/** Answers that make the caller try again: what it wants depends on a node that is away. */
final class Unavailable {

  private Unavailable() {}

  static StatusRuntimeException notRegistered(String nodeId) {
    return because(
        "node %s is not registered: check that its driver runs and reaches the registry"
            .formatted(nodeId));
  }

  static StatusRuntimeException noNodes() {
    return because(
        "no node has registered yet: check that node drivers run and reach the registry");
  }

  static StatusRuntimeException unreachable(Collection<String> nodeIds, String cause) {
    return because(
        "cannot reach node %s: %s"
            .formatted(String.join(", ", nodeIds.stream().sorted().toList()), cause));
  }

  static StatusRuntimeException because(String description) {
    return Status.UNAVAILABLE.withDescription(description).asRuntimeException();
  }
}
