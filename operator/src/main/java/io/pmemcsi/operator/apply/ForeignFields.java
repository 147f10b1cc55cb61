package io.pmemcsi.operator.apply;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Values of others in an object of ours that applying it again would leave in place. */
final class ForeignFields {

  private ForeignFields() {}

  /** All of them, as pointers into the object; each is the field of a map. */
  static List<String> of(
      HasMetadata actual, HasMetadata wanted, KubernetesSerialization serialization) {
    Map<?, ?> want = serialization.convertValue(wanted, Map.class);
    Map<?, ?> have = serialization.convertValue(actual, Map.class);
    return Stream.concat(
            Selectors.surplus(want, have).stream(), ExclusiveFields.surplus(want, have).stream())
        .toList();
  }

  /** The same object without them. */
  static HasMetadata takenAway(
      HasMetadata actual, HasMetadata wanted, KubernetesSerialization serialization) {
    List<String> surplus = of(actual, wanted, serialization);
    if (surplus.isEmpty()) {
      return actual;
    }
    JsonNode tree = serialization.convertValue(actual, JsonNode.class);
    for (String text : surplus) {
      JsonPointer pointer = JsonPointer.compile(text);
      if (tree.at(pointer.head()) instanceof ObjectNode around) {
        around.remove(pointer.last().getMatchingProperty());
      }
    }
    return serialization.convertValue(tree, actual.getClass());
  }
}
