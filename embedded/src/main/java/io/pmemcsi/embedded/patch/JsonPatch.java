package io.pmemcsi.embedded.patch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import java.util.ArrayList;
import java.util.List;

/** JSON patch (RFC 6902). */
public final class JsonPatch {
  private JsonNode root;

  private JsonPatch(JsonNode root) {
    this.root = root;
  }

  /** The patched copy of a value. */
  public static JsonNode apply(JsonNode value, JsonNode patch) {
    if (!patch.isArray()) {
      throw malformed("json: cannot unmarshal object into Go value of type jsonpatch.Patch");
    }
    JsonPatch work = new JsonPatch(value.deepCopy());
    patch.forEach(work::operation);
    return work.root;
  }

  private void operation(JsonNode operation) {
    List<String> path = pointer(Json.text(operation, "path"));
    JsonNode value = operation.path("value");
    switch (Json.text(operation, "op")) {
      case "add" -> add(path, value.deepCopy());
      case "replace" -> {
        remove(path, "replace");
        add(path, value.deepCopy());
      }
      case "remove" -> remove(path, "remove");
      case "copy" -> add(path, get(pointer(Json.text(operation, "from"))).deepCopy());
      case "move" -> {
        List<String> from = pointer(Json.text(operation, "from"));
        JsonNode moved = get(from).deepCopy();
        remove(from, "move");
        add(path, moved);
      }
      case "test" -> {
        if (!Json.same(get(path), value)) {
          throw unapplicable("testing value %s failed".formatted(Json.text(operation, "path")));
        }
      }
      default -> throw malformed("Unexpected kind: " + Json.text(operation, "op"));
    }
  }

  private static List<String> pointer(String text) {
    List<String> path = new ArrayList<>();
    if (!text.isEmpty()) {
      for (String part : text.substring(1).split("/", -1)) {
        path.add(part.replace("~1", "/").replace("~0", "~"));
      }
    }
    return path;
  }

  private JsonNode get(List<String> path) {
    JsonNode node = root;
    for (String name : path) {
      JsonNode next = node.isArray() ? node.path(index(node, name)) : node.path(name);
      if (next.isMissingNode()) {
        throw unapplicable("path /%s does not exist".formatted(String.join("/", path)));
      }
      node = next;
    }
    return node;
  }

  private void add(List<String> path, JsonNode value) {
    if (path.isEmpty()) {
      root = value;
      return;
    }
    String name = path.getLast();
    switch (get(path.subList(0, path.size() - 1))) {
      case ObjectNode object -> object.set(name, value);
      case ArrayNode array -> {
        int at = name.equals("-") ? array.size() : index(array, name);
        if (at > array.size()) {
          throw unapplicable("index %s is out of range".formatted(name));
        }
        array.insert(at, value);
      }
      default -> throw unapplicable("/%s has no parts".formatted(String.join("/", path)));
    }
  }

  private void remove(List<String> path, String operation) {
    if (path.isEmpty()) {
      return;
    }
    JsonNode gone = null;
    switch (get(path.subList(0, path.size() - 1))) {
      case ObjectNode object -> gone = object.remove(path.getLast());
      case ArrayNode array -> gone = array.remove(index(array, path.getLast()));
      default -> {}
    }
    if (gone == null) {
      throw unapplicable(
          "%s operation does not apply: doc is missing key: /%s"
              .formatted(operation, String.join("/", path)));
    }
  }

  private static int index(JsonNode array, String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException _) {
      throw unapplicable("%s is no index of a list of %d".formatted(text, array.size()));
    }
  }

  private static InvalidPatchException malformed(String message) {
    return new InvalidPatchException(InvalidPatchException.Kind.MALFORMED, message);
  }

  private static InvalidPatchException unapplicable(String message) {
    return new InvalidPatchException(InvalidPatchException.Kind.UNAPPLICABLE, message);
  }
}
