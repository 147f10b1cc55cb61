package io.pmemcsi.embedded.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;

/** All objects at one revision. Callers must not change them. */
public record Objects(NavigableMap<Key, ObjectNode> all) {

  public Optional<ObjectNode> get(Key key) {
    return Optional.ofNullable(all.get(key));
  }

  /** The objects of a kind in order; in all namespaces if the namespace is "". */
  public List<ObjectNode> list(String group, String plural, String namespace) {
    return all.tailMap(new Key(group, plural, namespace, "")).entrySet().stream()
        .takeWhile(entry -> entry.getKey().in(group, plural, namespace))
        .map(Map.Entry::getValue)
        .toList();
  }
}
