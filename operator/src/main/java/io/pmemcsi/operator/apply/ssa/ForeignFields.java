package io.pmemcsi.operator.apply.ssa;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Fields of other managers in our objects which must be unset but which an apply keeps. */
final class ForeignFields {

  private ForeignFields() {}

  /** JSON pointers to all of them; each is the field of a map. */
  static List<String> of(
      HasMetadata actualObject, HasMetadata desiredObject, KubernetesSerialization serialization) {
    Map<?, ?> desired = serialization.convertValue(desiredObject, Map.class);
    Map<?, ?> actual = serialization.convertValue(actualObject, Map.class);
    return Stream.concat(
            Selectors.foreign(desired, actual).stream(),
            ExclusiveFields.foreign(desired, actual).stream())
        .toList();
  }

  /** The object without them. */
  static HasMetadata removedFrom(
      HasMetadata actual, HasMetadata desired, KubernetesSerialization serialization) {
    List<String> foreign = of(actual, desired, serialization);
    if (foreign.isEmpty()) {
      return actual;
    }
    JsonNode tree = serialization.convertValue(actual, JsonNode.class);
    for (String text : foreign) {
      JsonPointer pointer = JsonPointer.compile(text);
      if (tree.at(pointer.head()) instanceof ObjectNode parent) {
        parent.remove(pointer.last().getMatchingProperty());
      }
    }
    return serialization.convertValue(tree, actual.getClass());
  }
}
