package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** JSON patch (RFC 6902) and JSON merge patch (RFC 7396). */
final class JsonPatch {
  private final JsonNode root;

  private JsonPatch(JsonNode root) {
    this.root = root;
  }

  /** The merged copy of an object. */
  static ObjectNode merge(JsonNode value, ObjectNode patch) {
    ObjectNode merged = value instanceof ObjectNode object ? object.deepCopy() : Json.object();
    for (Map.Entry<String, JsonNode> field : patch.properties()) {
      if (field.getValue().isNull()) {
        merged.remove(field.getKey());
      } else if (field.getValue() instanceof ObjectNode child) {
        merged.set(field.getKey(), merge(merged.path(field.getKey()), child));
      } else {
        merged.set(field.getKey(), field.getValue());
      }
    }
    return merged;
  }

  /** The patched copy of an object. */
  static ObjectNode apply(ObjectNode object, JsonNode patch) {
    if (!patch.isArray()) {
      throw ApiException.badRequest("a JSON patch is a list of operations, not " + patch);
    }
    ObjectNode copy = object.deepCopy();
    patch.forEach(new JsonPatch(copy)::operation);
    return copy;
  }

  private void operation(JsonNode operation) {
    List<String> path = pointer(operation, "path");
    JsonNode value = operation.path("value");
    switch (Json.text(operation, "op")) {
      case "add" -> add(path, value.deepCopy());
      case "replace" -> {
        remove(path);
        add(path, value.deepCopy());
      }
      case "remove" -> remove(path);
      case "copy" -> add(path, get(pointer(operation, "from")).deepCopy());
      case "move" -> {
        List<String> from = pointer(operation, "from");
        JsonNode moved = get(from);
        remove(from);
        add(path, moved);
      }
      case "test" -> {
        if (!Json.same(get(path), value)) {
          throw unapplicable("the test of " + path + " failed");
        }
      }
      default -> throw ApiException.badRequest("unknown operation in a JSON patch: " + operation);
    }
  }

  private static List<String> pointer(JsonNode operation, String field) {
    return Stream.of(Json.text(operation, field).split("/", -1))
        .skip(1)
        .map(part -> part.replace("~1", "/").replace("~0", "~"))
        .toList();
  }

  private JsonNode get(List<String> path) {
    JsonNode node = root;
    for (String name : path) {
      node = node instanceof ArrayNode array ? array.path(index(array, name)) : node.path(name);
    }
    if (node.isMissingNode()) {
      throw unapplicable(path + " does not exist");
    }
    return node;
  }

  private void add(List<String> path, JsonNode value) {
    switch (get(path.subList(0, path.size() - 1))) {
      case ObjectNode object -> object.set(path.getLast(), value);
      case ArrayNode array -> array.insert(index(array, path.getLast()), value);
      default -> throw unapplicable(path + " is not in an object or list");
    }
  }

  private void remove(List<String> path) {
    get(path);
    switch (get(path.subList(0, path.size() - 1))) {
      case ObjectNode object -> object.remove(path.getLast());
      case ArrayNode array -> array.remove(index(array, path.getLast()));
      default -> throw unapplicable(path + " is not in an object or list");
    }
  }

  private static int index(ArrayNode array, String text) {
    if (text.equals("-")) {
      return array.size();
    }
    int index = text.matches("\\d{1,9}") ? Integer.parseInt(text) : Integer.MAX_VALUE;
    if (index > array.size()) {
      throw unapplicable("%s is not an index of a list of %d".formatted(text, array.size()));
    }
    return index;
  }

  private static ApiException unapplicable(String why) {
    return ApiException.of(422, "Invalid", "the JSON patch cannot be applied: " + why);
  }
}
