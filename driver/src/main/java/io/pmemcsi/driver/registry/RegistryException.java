package io.pmemcsi.driver.registry;

import java.util.Collection;

/** Why the controller cannot do what a caller asked for. {@link Responder} maps it to a status. */
abstract sealed class RegistryException extends RuntimeException {

  private RegistryException(String message) {
    super(message);
  }

  /** The message, which is never null. */
  String text() {
    return String.valueOf(getMessage());
  }

  /** The request is wrong; repeating it is of no use. */
  static final class InvalidRequest extends RegistryException {
    InvalidRequest(String message) {
      super(message);
    }
  }

  /** No node has the volume. */
  static final class NotFound extends RegistryException {
    NotFound(String message) {
      super(message);
    }
  }

  /** The volume is on a node that the request does not allow. */
  static final class OnOtherNode extends RegistryException {
    OnOtherNode(String message) {
      super(message);
    }
  }

  /** No node that the request allows has enough capacity; the scheduler may choose another one. */
  static final class InsufficientCapacity extends RegistryException {
    InsufficientCapacity(String message) {
      super(message);
    }
  }

  /** Something is left on a node; the same call again goes on from there. */
  static final class Unfinished extends RegistryException {
    Unfinished(String message) {
      super(message);
    }
  }

  /** The caller has given up. */
  static final class Cancelled extends RegistryException {
    Cancelled(String message) {
      super(message);
    }
  }

  /** What is asked for depends on a node that is away; the caller tries again. */
  static final class Unavailable extends RegistryException {
    Unavailable(String message) {
      super(message);
    }

    static Unavailable notRegistered(String nodeId) {
      return new Unavailable(
          "node %s is not registered: check that its driver runs and reaches the registry"
              .formatted(nodeId));
    }

    static Unavailable noNodes() {
      return new Unavailable(
          "no node has registered yet: check that node drivers run and reach the registry");
    }

    static Unavailable unreachable(Collection<String> nodeIds, String cause) {
      return new Unavailable(
          "cannot reach node %s: %s"
              .formatted(String.join(", ", nodeIds.stream().sorted().toList()), cause));
    }
  }

  /** The call of a node has failed. The caller gets the code of the node. */
  static final class NodeFailed extends RegistryException {
    private final NodeStatus status;

    NodeFailed(NodeStatus status, String message) {
      super(message);
      this.status = status;
    }

    /** The same failure, with the node in its text. */
    NodeFailed onNode(String nodeId) {
      String prefix = nodeId + ": ";
      return text().startsWith(prefix) ? this : new NodeFailed(status, prefix + text());
    }

    NodeStatus status() {
      return status;
    }

    CreateOutcome createOutcome() {
      return status.createOutcome();
    }

    boolean isNotFound() {
      return status.isNotFound();
    }

    boolean isUnavailable() {
      return status.isUnavailable();
    }
  }
}
