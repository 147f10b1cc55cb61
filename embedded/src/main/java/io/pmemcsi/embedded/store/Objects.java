package io.pmemcsi.embedded.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A view of all objects at one moment. Objects that it hands out must not be changed. */
public interface Objects {
  Optional<ObjectNode> get(Key key);

  /** The objects of a kind, in order; of all namespaces if the namespace is "". */
  List<ObjectNode> list(String group, String plural, String namespace);

  /** Everything there is. */
  Map<Key, ObjectNode> all();
}
