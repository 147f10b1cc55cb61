package io.pmemcsi.operator.apply.ssa;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** How managedFields identifies an element of a list, such as {@code {"name":"driver"}}. */
final class ListKey {

  private static final ObjectMapper JSON = new ObjectMapper();

  private ListKey() {}

  static Map<?, ?> parse(String json) {
    try {
      return JSON.readValue(json, Map.class);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "not the key of a list element in managedFields: " + json, e);
    }
  }

  static Optional<?> find(List<?> list, Map<?, ?> key) {
    return list.stream().filter(element -> matches(element, key)).findFirst();
  }

  /** A key field that the element lacks has the server's default. */
  static boolean matches(Object element, Map<?, ?> key) {
    return element instanceof Map<?, ?> map
        && key.entrySet().stream()
            .allMatch(
                part ->
                    !map.containsKey(part.getKey())
                        || part.getValue().equals(map.get(part.getKey())));
  }
}
