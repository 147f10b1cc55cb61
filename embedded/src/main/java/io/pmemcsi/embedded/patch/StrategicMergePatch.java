package io.pmemcsi.embedded.patch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Type;
import io.pmemcsi.embedded.schema.Type.ListKind;
import io.pmemcsi.embedded.schema.Type.ListOf;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A merge patch that merges lists by key and understands directives ($patch, $retainKeys, ...). */
public final class StrategicMergePatch {
  private static final String DELETE_ITEMS = "$deleteFromPrimitiveList/";
  private static final String SET_ORDER = "$setElementOrder/";

  private StrategicMergePatch() {}

  /** The patched copy of an object. */
  public static ObjectNode apply(ObjectNode object, ObjectNode patch, Type type) {
    return mergeObjects(object.deepCopy(), patch, type);
  }

  private static ObjectNode mergeObjects(ObjectNode target, ObjectNode patch, Type type) {
    switch (Json.text(patch, "$patch")) {
      case "replace" -> {
        return Json.without(patch, "$patch");
      }
      case "delete" -> {
        return Json.object();
      }
      default -> {}
    }
    if (patch.path("$retainKeys") instanceof ArrayNode keys) {
      List<String> names = new ArrayList<>();
      keys.forEach(key -> names.add(key.asText()));
      target.retain(names);
    }
    for (Map.Entry<String, JsonNode> field : patch.properties()) {
      String name = field.getKey();
      if (name.startsWith(SET_ORDER) || name.equals("$patch") || name.equals("$retainKeys")) {
        continue;
      }
      if (name.startsWith(DELETE_ITEMS)) {
        deleteItems(target.path(name.substring(DELETE_ITEMS.length())), field.getValue());
      } else if (field.getValue().isNull()) {
        target.remove(name);
      } else {
        target.set(name, merge(target.path(name), field.getValue(), type.field(name)));
      }
    }
    return target;
  }

  private static JsonNode merge(JsonNode target, JsonNode patch, Type type) {
    if (patch instanceof ObjectNode object) {
      ObjectNode base = target instanceof ObjectNode existing ? existing : Json.object();
      return mergeObjects(base, object, type);
    }
    if (patch instanceof ArrayNode items && type instanceof ListOf list && list.patched()) {
      ArrayNode base = target instanceof ArrayNode existing ? existing : Json.array();
      return list.kind() == ListKind.SET ? union(base, items) : mergeItems(base, items, list);
    }
    return patch.deepCopy();
  }

  private static ArrayNode union(ArrayNode target, ArrayNode patch) {
    List<JsonNode> others = new ArrayList<>();
    for (JsonNode item : target) {
      if (find(patch, "", item) < 0) {
        others.add(item);
      }
    }
    List<JsonNode> named = new ArrayList<>();
    patch.forEach(named::add);
    return ordered(others, named, target, "");
  }

  private static void deleteItems(JsonNode target, JsonNode gone) {
    if (target instanceof ArrayNode array) {
      for (JsonNode item : gone) {
        int at = find(array, "", item);
        if (at >= 0) {
          array.remove(at);
        }
      }
    }
  }

  private static ArrayNode mergeItems(ArrayNode target, ArrayNode patch, ListOf list) {
    String key = list.keys().getFirst();
    ArrayNode base = target;
    for (JsonNode item : patch) {
      if (Json.text(item, "$patch").equals("replace")) {
        base = Json.array();
      }
    }
    ArrayNode before = base.deepCopy();
    List<JsonNode> named = new ArrayList<>();
    for (JsonNode item : patch) {
      if (Json.text(item, "$patch").equals("replace") && item.size() == 1) {
        continue;
      }
      if (!item.has(key)) {
        throw new InvalidPatchException(
            InvalidPatchException.Kind.MALFORMED,
            "map: %s does not contain declared merge key: %s".formatted(item, key));
      }
      int at = find(base, key, item.path(key));
      JsonNode old = at >= 0 ? base.remove(at) : Json.object();
      if (!Json.text(item, "$patch").equals("delete")) {
        named.add(merge(old, item, list.element()));
      }
    }
    List<JsonNode> others = new ArrayList<>();
    base.forEach(others::add);
    return ordered(others, named, before, key);
  }

  /**
   * Puts the items that the patch does not mention among those it does, where both are known in the
   * order they had; new items keep the order of the patch.
   */
  private static ArrayNode ordered(
      List<JsonNode> others, List<JsonNode> named, ArrayNode before, String key) {
    ArrayNode all = Json.array();
    int i = 0;
    int j = 0;
    while (i < others.size() || j < named.size()) {
      boolean otherFirst = j >= named.size();
      if (!otherFirst && i < others.size()) {
        int other = find(before, key, keyOf(others.get(i), key));
        int name = find(before, key, keyOf(named.get(j), key));
        otherFirst = other >= 0 && name >= 0 && other < name;
      }
      all.add(otherFirst ? others.get(i++) : named.get(j++));
    }
    return all;
  }

  private static JsonNode keyOf(JsonNode item, String key) {
    return key.isEmpty() ? item : item.path(key);
  }

  private static int find(ArrayNode array, String key, JsonNode wanted) {
    for (int i = 0; i < array.size(); i++) {
      if (Json.same(keyOf(array.get(i), key), wanted)) {
        return i;
      }
    }
    return -1;
  }
}
