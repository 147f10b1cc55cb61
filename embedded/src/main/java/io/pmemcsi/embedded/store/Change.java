package io.pmemcsi.embedded.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;

/**
 * One step in the history of the cluster.
 *
 * @param object the object after the change; of a deletion, as it last was
 * @param before the object before it, empty for a creation
 */
public record Change(
    long revision, Kind kind, Key key, ObjectNode object, Optional<ObjectNode> before) {
  /** What a watcher is told. */
  public enum Kind {
    ADDED,
    MODIFIED,
    DELETED
  }
}
