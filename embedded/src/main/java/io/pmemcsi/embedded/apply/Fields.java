package io.pmemcsi.embedded.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Type;
import io.pmemcsi.embedded.schema.Type.ListOf;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The fields that a value has, and the value without some of its fields. */
final class Fields {
  private final FieldSet set = new FieldSet();
  private final List<PathElement> path = new ArrayList<>();

  private Fields() {}

  /** The fields that the writer of a value owns. */
  static FieldSet of(JsonNode value, Type type) {
    Fields fields = new Fields();
    fields.visit(value, type);
    return fields.set;
  }

  private void visit(JsonNode value, Type declared) {
    Type type = declared.seenAs(value);
    if (type.atomic()) {
      set.insert(path);
    } else if (type instanceof ListOf list) {
      items(value, list);
    } else {
      fields(value, type);
    }
  }

  private void items(JsonNode value, ListOf list) {
    int index = 0;
    for (JsonNode item : value) {
      path.add(PathElement.item(list, item, index++));
      visit(item, list.element());
      set.insert(path);
      path.removeLast();
    }
  }

  private void fields(JsonNode value, Type type) {
    for (Map.Entry<String, JsonNode> field : value.properties()) {
      path.add(PathElement.field(field.getKey()));
      visit(field.getValue(), type.field(field.getKey()));
      if (!type.declares(field.getKey())) {
        set.insert(path);
      }
      path.removeLast();
    }
  }

  /** A copy of a value without the fields and items of a set; null where nothing is left. */
  static JsonNode without(JsonNode value, FieldSet removed, Type declared) {
    Type type = declared.seenAs(value);
    if (type.atomic()) {
      return value;
    }
    return switch (value) {
      case ArrayNode array when type instanceof ListOf list -> itemsWithout(array, removed, list);
      case ObjectNode object -> fieldsWithout(object, removed, type);
      default -> value;
    };
  }

  private static JsonNode itemsWithout(ArrayNode array, FieldSet removed, ListOf list) {
    ArrayNode left = Json.array();
    int index = 0;
    for (JsonNode item : array) {
      PathElement element = PathElement.item(list, item, index++);
      if (!removed.has(element)) {
        left.add(stripped(item, removed.below(element), list.element()));
      }
    }
    return left.isEmpty() && !array.isEmpty() ? NullNode.getInstance() : left;
  }

  private static JsonNode fieldsWithout(ObjectNode object, FieldSet removed, Type type) {
    ObjectNode left = Json.object();
    for (Map.Entry<String, JsonNode> field : object.properties()) {
      PathElement element = PathElement.field(field.getKey());
      if (!removed.has(element)) {
        left.set(
            field.getKey(),
            stripped(field.getValue(), removed.below(element), type.field(field.getKey())));
      }
    }
    return left.isEmpty() && !object.isEmpty() ? NullNode.getInstance() : left;
  }

  private static JsonNode stripped(JsonNode value, FieldSet removed, Type type) {
    return removed.isEmpty() ? value : without(value, removed, type);
  }
}
