package io.pmemcsi.embedded.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.store.Change.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** Changes that are committed together; reads see the transaction's own writes. */
public final class Transaction {
  private final NavigableMap<Key, ObjectNode> objects;
  private final List<Change> changes = new ArrayList<>();
  private long revision;

  Transaction(Objects committed, long revision) {
    this.objects = new TreeMap<>(committed.all());
    this.revision = revision;
  }

  /** The objects with the changes of this transaction. */
  public Objects objects() {
    return new Objects(objects);
  }

  public Optional<ObjectNode> get(Key key) {
    return Optional.ofNullable(objects.get(key));
  }

  /** Stores a copy of an object with the next revision and returns the copy. */
  public ObjectNode put(Key key, ObjectNode object) {
    Optional<ObjectNode> before = get(key);
    ObjectNode stored = withNextRevision(object);
    Kind kind = before.isPresent() ? Kind.MODIFIED : Kind.ADDED;
    changes.add(new Change(revision, kind, key, stored, before));
    objects.put(key, stored);
    return stored;
  }

  /** Removes an object. */
  public void delete(Key key) {
    ObjectNode before =
        get(key).orElseThrow(() -> new IllegalStateException("no object to delete: " + key));
    ObjectNode last = withNextRevision(before);
    changes.add(new Change(revision, Kind.DELETED, key, last, Optional.of(before)));
    objects.remove(key);
  }

  private ObjectNode withNextRevision(ObjectNode object) {
    revision++;
    ObjectNode copy = object.deepCopy();
    Json.child(copy, "metadata").put("resourceVersion", Long.toString(revision));
    return copy;
  }

  public List<Change> changes() {
    return changes;
  }
}
