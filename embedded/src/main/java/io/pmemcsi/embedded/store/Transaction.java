package io.pmemcsi.embedded.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.store.Change.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** Changes that happen together or not at all; reads see the transaction's own writes. */
public final class Transaction implements Objects {
  private final NavigableMap<Key, ObjectNode> committed;
  private final Map<Key, Optional<ObjectNode>> written = new TreeMap<>();
  private final List<Change> changes = new ArrayList<>();
  private long revision;

  Transaction(NavigableMap<Key, ObjectNode> committed, long revision) {
    this.committed = committed;
    this.revision = revision;
  }

  @Override
  public Optional<ObjectNode> get(Key key) {
    Optional<ObjectNode> own = written.get(key);
    return own != null ? own : Optional.ofNullable(committed.get(key));
  }

  @Override
  public List<ObjectNode> list(String group, String plural, String namespace) {
    return new Snapshot(current()).list(group, plural, namespace);
  }

  @Override
  public Map<Key, ObjectNode> all() {
    return current();
  }

  private NavigableMap<Key, ObjectNode> current() {
    if (written.isEmpty()) {
      return committed;
    }
    NavigableMap<Key, ObjectNode> current = new TreeMap<>(committed);
    written.forEach(
        (key, object) ->
            object.ifPresentOrElse(value -> current.put(key, value), () -> current.remove(key)));
    return current;
  }

  /** Stores a copy of an object under the next revision and returns that copy. */
  public ObjectNode put(Key key, ObjectNode object) {
    Optional<ObjectNode> before = get(key);
    ObjectNode stored = stamped(object);
    changes.add(
        new Change(revision, before.isPresent() ? Kind.MODIFIED : Kind.ADDED, key, stored, before));
    written.put(key, Optional.of(stored));
    return stored;
  }

  /** Removes an object and returns it as it last was, with the revision of its end. */
  public ObjectNode delete(Key key) {
    ObjectNode before =
        get(key).orElseThrow(() -> new IllegalStateException("nothing to delete at " + key));
    ObjectNode last = stamped(before);
    changes.add(new Change(revision, Kind.DELETED, key, last, Optional.of(before)));
    written.put(key, Optional.empty());
    return last;
  }

  private ObjectNode stamped(ObjectNode object) {
    revision++;
    ObjectNode copy = object.deepCopy();
    Json.child(copy, "metadata").put("resourceVersion", Long.toString(revision));
    return copy;
  }

  public List<Change> changes() {
    return changes;
  }
}
