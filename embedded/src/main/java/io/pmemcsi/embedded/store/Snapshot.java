package io.pmemcsi.embedded.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;

/** A view that no longer changes. */
record Snapshot(NavigableMap<Key, ObjectNode> all) implements Objects {
  @Override
  public Optional<ObjectNode> get(Key key) {
    return Optional.ofNullable(all.get(key));
  }

  @Override
  public List<ObjectNode> list(String group, String plural, String namespace) {
    return all.tailMap(new Key(group, plural, namespace, "")).entrySet().stream()
        .takeWhile(entry -> entry.getKey().in(group, plural, namespace))
        .map(Map.Entry::getValue)
        .toList();
  }
}
