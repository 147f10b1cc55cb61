package io.pmemcsi.embedded.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;

/**
 * One change in the history of the cluster.
 *
 * @param object the object after the change; for a deletion its last state
 * @param before the object before the change, empty for a creation
 */
public record Change(
    long revision, Kind kind, Key key, ObjectNode object, Optional<ObjectNode> before) {

  /** The type of the watch event. */
  public enum Kind {
    ADDED,
    MODIFIED,
    DELETED
  }
}
