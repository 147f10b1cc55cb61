package io.pmemcsi.operator.rollout.draining;

import java.util.Optional;

/**
 * A pod on a node whose volumes of the driver may be mounted.
 *
 * @param leaving whether it has ended or been deleted, so that only its volumes are waited for
 */
public record VolumeConsumer(
    String namespace, String name, String uid, Origin origin, boolean leaving) {

  /** Where a pod comes from, which says what happens when it is evicted. */
  public enum Origin {
    /** A controller makes another one, on a node that is not cordoned. */
    CONTROLLER,
    /** Nobody makes another one. */
    NOBODY,
    /** A DaemonSet makes another one at once, on the same node. */
    DAEMON_SET,
    /** A file on the node: the API server cannot remove it. */
    STATIC
  }

  String title() {
    return namespace + "/" + name;
  }

  boolean isEvictable(boolean evictUnmanaged) {
    return switch (origin) {
      case CONTROLLER -> true;
      case NOBODY -> evictUnmanaged;
      case DAEMON_SET, STATIC -> false;
    };
  }

  /** Why the pod will not leave by itself, and what to do. */
  Optional<String> obstacle(boolean evictUnmanaged) {
    if (leaving || isEvictable(evictUnmanaged)) {
      return Optional.empty();
    }
    return Optional.of(
        switch (origin) {
          case NOBODY ->
              "pod %s would not be made again: delete it, or set draining.evictUnmanagedPods"
                  .formatted(title());
          case DAEMON_SET ->
              "pod %s of a DaemonSet would come back at once: keep that DaemonSet off the node"
                  .formatted(title());
          case STATIC ->
              "pod %s comes from a file on the node: move the file away".formatted(title());
          case CONTROLLER -> throw new IllegalStateException(title() + " can be evicted");
        });
  }
}
