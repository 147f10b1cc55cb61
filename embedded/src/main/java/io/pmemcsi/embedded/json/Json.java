package io.pmemcsi.embedded.json;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** JSON trees: parsing, reading and comparing them the way an API server does. */
public final class Json {
  /** Reads and writes trees. */
  public static final ObjectMapper MAPPER =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

  private Json() {}

  public static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  public static ArrayNode array() {
    return JsonNodeFactory.instance.arrayNode();
  }

  /** Parses text that is known to be JSON, such as a constant of this program. */
  public static JsonNode parse(String json) {
    try {
      return MAPPER.readTree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("not JSON: " + json, e);
    }
  }

  /** The node at the end of a path of field names, or a missing node. */
  public static JsonNode at(JsonNode node, String... path) {
    JsonNode current = node;
    for (String name : path) {
      JsonNode next = current.get(name);
      if (next == null) {
        return MissingNode.getInstance();
      }
      current = next;
    }
    return current;
  }

  /** The text at the end of a path, or "" where there is none. */
  public static String text(JsonNode node, String... path) {
    JsonNode found = at(node, path);
    return found.isTextual() ? found.textValue() : "";
  }

  /** The object in a field; created if it is not there yet. */
  public static ObjectNode child(ObjectNode parent, String name) {
    return parent.get(name) instanceof ObjectNode existing ? existing : parent.putObject(name);
  }

  /** Whether a value is missing or null. */
  public static boolean absent(JsonNode node) {
    return node.isMissingNode() || node.isNull();
  }

  /** Equality in which 1 and 1.0 are one number, whatever Java type holds them. */
  public static boolean same(JsonNode a, JsonNode b) {
    return a.equals(Json::compareScalars, b);
  }

  private static int compareScalars(JsonNode a, JsonNode b) {
    if (a.equals(b)) {
      return 0;
    }
    return a.isNumber() && b.isNumber() ? a.decimalValue().compareTo(b.decimalValue()) : 1;
  }

  /** Copies an object without some of its fields. */
  public static ObjectNode without(ObjectNode object, String... names) {
    ObjectNode copy = object.deepCopy();
    for (String name : names) {
      copy.remove(name);
    }
    return copy;
  }
}
