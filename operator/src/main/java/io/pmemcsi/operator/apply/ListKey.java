package io.pmemcsi.operator.apply;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;

/** How the record of owned fields names an element of a list, such as {@code {"name":"driver"}}. */
final class ListKey {

  private static final ObjectMapper JSON = new ObjectMapper();

  private ListKey() {}

  static Map<?, ?> parse(String json) {
    try {
      return JSON.readValue(json, Map.class);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("not the key of a list element: " + json, e);
    }
  }

  /** A part of the key that is missing in the element was filled in by the server. */
  static boolean fits(Object element, Map<?, ?> identity) {
    return element instanceof Map<?, ?> map
        && identity.entrySet().stream()
            .allMatch(
                part ->
                    !map.containsKey(part.getKey())
                        || part.getValue().equals(map.get(part.getKey())));
  }
}
