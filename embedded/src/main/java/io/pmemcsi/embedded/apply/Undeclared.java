package io.pmemcsi.embedded.apply;

import com.fasterxml.jackson.databind.JsonNode;
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
import java.util.Optional;

/** Finds what an applied configuration has and its kind does not know. */
public final class Undeclared {
  private final List<String> errors = new ArrayList<>();

  private Undeclared() {}

  /** What is wrong in one sentence, empty where nothing is. */
  public static Optional<String> in(JsonNode config, Type type) {
    Undeclared search = new Undeclared();
    search.visit("", config, type);
    return switch (search.errors.size()) {
      case 0 -> Optional.empty();
      case 1 -> Optional.of(search.errors.getFirst());
      default -> Optional.of("errors:\n  " + String.join("\n  ", search.errors));
    };
  }

  private void visit(String path, JsonNode value, Type type) {
    switch (type) {
      case Struct struct -> fields(path, value, struct);
      case MapOf map ->
          value
              .properties()
              .forEach(
                  entry -> visit(path + "." + entry.getKey(), entry.getValue(), map.element()));
      case ListOf list -> items(path, value, list);
      case Scalar _, Any _ -> {}
    }
  }

  private void fields(String path, JsonNode value, Struct struct) {
    for (Map.Entry<String, JsonNode> field : value.properties()) {
      boolean resource =
          path.isEmpty() && (field.getKey().equals("apiVersion") || field.getKey().equals("kind"));
      if (struct.declares(field.getKey())) {
        visit(path + "." + field.getKey(), field.getValue(), struct.field(field.getKey()));
      } else if (!struct.open() && !resource) {
        errors.add(path + "." + field.getKey() + ": field not declared in schema");
      }
    }
  }

  private void items(String path, JsonNode value, ListOf list) {
    int index = 0;
    for (JsonNode item : value) {
      if (list.kind() == ListKind.MAP) {
        for (String key : list.keys()) {
          if (!item.has(key)) {
            errors.add(
                "%s: element %d: associative list with keys has an element that omits key field \"%s\""
                    .formatted(path, index, key));
          }
        }
      }
      String element =
          list.kind() == ListKind.ATOMIC
              ? "[%d]".formatted(index)
              : PathElement.ofItem(list, item, index).shown();
      visit(path + element, item, list.element());
      index++;
    }
  }
}
