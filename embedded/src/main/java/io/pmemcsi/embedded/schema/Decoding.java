package io.pmemcsi.embedded.schema;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Type.Any;
import io.pmemcsi.embedded.schema.Type.Field;
import io.pmemcsi.embedded.schema.Type.ListOf;
import io.pmemcsi.embedded.schema.Type.MapOf;
import io.pmemcsi.embedded.schema.Type.Scalar;
import io.pmemcsi.embedded.schema.Type.Struct;
import java.util.Iterator;
import java.util.Map;

/** What a server does to a built-in object when it decodes it into its own types. */
public final class Decoding {
  private Decoding() {}

  /**
   * Drops unknown fields and nulls, and adds the fields that the server always writes, in place.
   */
  public static void normalise(ObjectNode object, Struct type) {
    struct(object, type);
  }

  /** An object of a type before the first write. */
  public static ObjectNode empty(Struct type) {
    ObjectNode object = Json.object();
    struct(object, type);
    return object;
  }

  /** Fills in the unconditional defaults of the type table, in place. */
  public static void presets(JsonNode value, Type type) {
    switch (type) {
      case Struct struct when value instanceof ObjectNode object -> {
        for (Map.Entry<String, Field> field : struct.fields().entrySet()) {
          field
              .getValue()
              .preset()
              .filter(_ -> !object.has(field.getKey()))
              .ifPresent(preset -> object.set(field.getKey(), preset.deepCopy()));
          presets(object.path(field.getKey()), field.getValue().type());
        }
      }
      case MapOf map -> value.forEach(item -> presets(item, map.element()));
      case ListOf list -> value.forEach(item -> presets(item, list.element()));
      case Struct _, Scalar _, Any _ -> {}
    }
  }

  private static void normalise(JsonNode value, Type type) {
    switch (type) {
      case Struct struct when value instanceof ObjectNode object -> struct(object, struct);
      case MapOf map when value instanceof ObjectNode object ->
          object.forEach(item -> normalise(item, map.element()));
      case ListOf list when value instanceof ArrayNode array ->
          array.forEach(item -> normalise(item, list.element()));
      case Struct _, MapOf _, ListOf _, Scalar _, Any _ -> {}
    }
  }

  private static void struct(ObjectNode object, Struct type) {
    Iterator<Map.Entry<String, JsonNode>> entries = object.properties().iterator();
    while (entries.hasNext()) {
      Map.Entry<String, JsonNode> entry = entries.next();
      Field field = type.fields().get(entry.getKey());
      boolean resourceField = entry.getKey().equals("apiVersion") || entry.getKey().equals("kind");
      if (entry.getValue().isNull() || (field == null && !resourceField && !type.open())) {
        entries.remove();
      } else if (field != null) {
        normalise(entry.getValue(), field.type());
        if (entry.getValue().isEmpty() && isCollection(field.type())) {
          entries.remove();
        }
      }
    }
    for (Map.Entry<String, Field> entry : type.fields().entrySet()) {
      Field field = entry.getValue();
      if (field.zero().isPresent() && !object.has(entry.getKey())) {
        JsonNode zero = field.zero().get().deepCopy();
        normalise(zero, field.type());
        object.set(entry.getKey(), zero);
      }
    }
  }

  // A stored object does not distinguish an empty list or map from an absent one.
  private static boolean isCollection(Type type) {
    return type instanceof ListOf || type instanceof MapOf;
  }
}
