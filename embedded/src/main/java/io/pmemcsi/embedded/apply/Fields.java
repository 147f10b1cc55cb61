package io.pmemcsi.embedded.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.apply.PathElement.FieldName;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Type;
import io.pmemcsi.embedded.schema.Type.Any;
import io.pmemcsi.embedded.schema.Type.ListKind;
import io.pmemcsi.embedded.schema.Type.ListOf;
import io.pmemcsi.embedded.schema.Type.MapOf;
import io.pmemcsi.embedded.schema.Type.Scalar;
import io.pmemcsi.embedded.schema.Type.Struct;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The fields that a value has, and the value without some of its fields. */
final class Fields {
  private final FieldSet set = new FieldSet();
  private final List<PathElement> path = new ArrayList<>();

  private Fields() {}

  /** The set of fields that somebody who wrote this value owns. */
  static FieldSet of(JsonNode value, Type type) {
    Fields fields = new Fields();
    fields.visit(value, type);
    return fields.set;
  }

  private void visit(JsonNode value, Type declared) {
    Type type = declared.seenAs(value);
    switch (type) {
      case ListOf list when list.kind() == ListKind.ATOMIC -> set.insert(path);
      case ListOf list -> items(value, list);
      case MapOf map when map.atomic() -> set.insert(path);
      case Struct struct when struct.atomic() -> set.insert(path);
      case MapOf _, Struct _ -> fields(value, type);
      case Scalar _, Any _ -> set.insert(path);
    }
  }

  private void items(JsonNode value, ListOf list) {
    int index = 0;
    for (JsonNode item : value) {
      path.add(PathElement.ofItem(list, item, index++));
      visit(item, list.element());
      set.insert(path);
      path.removeLast();
    }
  }

  private void fields(JsonNode value, Type type) {
    for (Map.Entry<String, JsonNode> field : value.properties()) {
      path.add(new FieldName(field.getKey()));
      visit(field.getValue(), type.field(field.getKey()));
      if (!type.declares(field.getKey())) {
        set.insert(path);
      }
      path.removeLast();
    }
  }

  /** A copy of a value without the fields and items of a set; null where nothing is left. */
  static JsonNode without(JsonNode value, FieldSet gone, Type declared) {
    Type type = declared.seenAs(value);
    return switch (type) {
      case ListOf list when value instanceof ArrayNode array && list.kind() != ListKind.ATOMIC ->
          itemsWithout(array, gone, list);
      case Struct struct when value instanceof ObjectNode object && !struct.atomic() ->
          fieldsWithout(object, gone, struct);
      case MapOf map when value instanceof ObjectNode object && !map.atomic() ->
          fieldsWithout(object, gone, map);
      case ListOf _, Struct _, MapOf _, Scalar _, Any _ -> value;
    };
  }

  private static JsonNode itemsWithout(ArrayNode array, FieldSet gone, ListOf list) {
    ArrayNode left = Json.array();
    int index = 0;
    for (JsonNode item : array) {
      PathElement element = PathElement.ofItem(list, item, index++);
      if (!gone.has(element)) {
        left.add(stripped(item, gone.below(element), list.element()));
      }
    }
    return left.isEmpty() && !array.isEmpty() ? NullNode.getInstance() : left;
  }

  private static JsonNode fieldsWithout(ObjectNode object, FieldSet gone, Type type) {
    ObjectNode left = Json.object();
    for (Map.Entry<String, JsonNode> field : object.properties()) {
      PathElement element = new FieldName(field.getKey());
      if (!gone.has(element)) {
        left.set(
            field.getKey(),
            stripped(field.getValue(), gone.below(element), type.field(field.getKey())));
      }
    }
    return left.isEmpty() && !object.isEmpty() ? NullNode.getInstance() : left;
  }

  private static JsonNode stripped(JsonNode value, FieldSet gone, Type type) {
    return gone.isEmpty() ? value : without(value, gone, type);
  }
}
