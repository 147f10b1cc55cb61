package io.pmemcsi.operator.rollout.draining;

import java.util.Optional;

/**
 * A pod that uses volumes of the driver which may be mounted.
 *
 * @param terminating whether it has ended or was deleted, so that only its volumes have to be
 *     unmounted
 */
record VolumeConsumer(
    String namespace, String name, String uid, Origin origin, boolean terminating) {

  /** What created a pod, which decides what happens after its eviction. */
  enum Origin {
    /** A controller recreates it on a node that is not cordoned. */
    CONTROLLER,
    /** No controller recreates it. */
    UNMANAGED,
    /** A DaemonSet recreates it at once on the same node. */
    DAEMON_SET,
    /** A static pod: the API server cannot delete it. */
    STATIC
  }

  String qualifiedName() {
    return namespace + "/" + name;
  }

  boolean isEvictable(boolean evictUnmanaged) {
    return switch (origin) {
      case CONTROLLER -> true;
      case UNMANAGED -> evictUnmanaged;
      case DAEMON_SET, STATIC -> false;
    };
  }

  /** Why the pod blocks the update, and what to do. */
  Optional<String> blocker(boolean evictUnmanaged) {
    if (terminating || isEvictable(evictUnmanaged)) {
      return Optional.empty();
    }
    return Optional.of(
        switch (origin) {
          case UNMANAGED ->
              "pod %s has no controller that recreates it: delete it, or set draining.evictUnmanagedPods"
                  .formatted(qualifiedName());
          case DAEMON_SET ->
              "pod %s of a DaemonSet would be recreated at once: keep that DaemonSet off the node"
                  .formatted(qualifiedName());
          case STATIC ->
              "pod %s is a static pod: move its manifest away from the node"
                  .formatted(qualifiedName());
          case CONTROLLER -> throw new IllegalStateException(qualifiedName() + " can be evicted");
        });
  }
}
