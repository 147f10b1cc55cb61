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
    for (JsonNode item : patch) {
      if (position(target, item) < 0) {
        target.add(item);
      }
    }
    return target;
  }

  private static void deleteItems(JsonNode target, JsonNode gone) {
    if (target instanceof ArrayNode array) {
      for (JsonNode item : gone) {
        int at = position(array, item);
        if (at >= 0) {
          array.remove(at);
        }
      }
    }
  }

  private static int position(ArrayNode array, JsonNode wanted) {
    for (int i = 0; i < array.size(); i++) {
      if (Json.same(array.get(i), wanted)) {
        return i;
      }
    }
    return -1;
  }

  private static ArrayNode mergeItems(ArrayNode target, ArrayNode patch, ListOf list) {
    String key = list.keys().getFirst();
    ArrayNode base = target;
    for (JsonNode item : patch) {
      if (Json.text(item, "$patch").equals("replace")) {
        base = Json.array();
      }
    }
    ArrayNode added = Json.array();
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
      if (Json.text(item, "$patch").equals("delete")) {
        if (at >= 0) {
          base.remove(at);
        }
      } else if (at >= 0) {
        base.set(at, merge(base.get(at), item, list.element()));
      } else {
        added.add(merge(Json.object(), item, list.element()));
      }
    }
    // New items go in front of those the patch does not mention.
    return base.isEmpty() ? added : ordered(base, added, patch, key);
  }

  private static ArrayNode ordered(ArrayNode base, ArrayNode added, ArrayNode patch, String key) {
    ArrayNode all = Json.array();
    for (JsonNode item : patch) {
      int inBase = find(base, key, item.path(key));
      int inAdded = find(added, key, item.path(key));
      if (inBase >= 0) {
        all.add(base.get(inBase));
      } else if (inAdded >= 0) {
        all.add(added.get(inAdded));
      }
    }
    for (JsonNode item : base) {
      if (find(all, key, item.path(key)) < 0) {
        all.add(item);
      }
    }
    return all;
  }

  private static int find(ArrayNode array, String key, JsonNode wanted) {
    for (int i = 0; i < array.size(); i++) {
      if (Json.same(array.get(i).path(key), wanted)) {
        return i;
      }
    }
    return -1;
  }
}
