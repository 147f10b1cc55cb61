package io.pmemcsi.embedded.schema;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Type.Any;
import io.pmemcsi.embedded.schema.Type.Field;
import io.pmemcsi.embedded.schema.Type.ListKind;
import io.pmemcsi.embedded.schema.Type.ListOf;
import io.pmemcsi.embedded.schema.Type.MapOf;
import io.pmemcsi.embedded.schema.Type.Scalar;
import io.pmemcsi.embedded.schema.Type.Struct;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The OpenAPI schema of one version of a custom kind.
 *
 * @param openApi the schema as the definition has it
 * @param preserve whether the whole definition keeps unknown fields
 */
public record CustomSchema(ObjectNode openApi, String listKind, boolean preserve) {
  static final String PRESERVE = "x-kubernetes-preserve-unknown-fields";
  static final String EMBEDDED = "x-kubernetes-embedded-resource";
  static final String INT_OR_STRING = "x-kubernetes-int-or-string";

  /**
   * Drops unknown fields, then fills in defaults, in place.
   *
   * @param dropNulls whether nulls that the schema does not allow are dropped too
   */
  public void normalise(ObjectNode object, boolean dropNulls) {
    if (!preserve) {
      new Pruning().root(object, openApi);
    }
    new Defaulting(dropNulls).root(object, openApi);
  }

  /** What is wrong with an object; empty where nothing is. */
  public List<FieldError> validate(ObjectNode object) {
    return new Validation().root(object, openApi);
  }

  /** The schema as a type for merging. */
  public Struct type(Struct objectMeta) {
    Struct root = (Struct) typeOf(withProperties(openApi));
    Map<String, Field> fields = new LinkedHashMap<>(root.fields());
    fields.put("apiVersion", field(Scalar.STRING));
    fields.put("kind", field(Scalar.STRING));
    fields.put("metadata", field(objectMeta));
    return new Struct("", root.atomic(), root.open() || preserve, fields);
  }

  /**
   * Whether a server of 1.20 can merge by this schema: its reader stumbles over alternatives, which
   * is also how it spells a value that is a number or a string, and then takes all as untyped.
   */
  public boolean typable() {
    return Stream.of(INT_OR_STRING, "anyOf", "oneOf", "allOf", "not")
        .noneMatch(word -> openApi.findValue(word) != null);
  }

  /** The type of a custom kind that cannot be merged by its schema. */
  public static Struct untyped() {
    return new Struct("", false, true, Map.of());
  }

  private static ObjectNode withProperties(ObjectNode schema) {
    if (schema.path("properties").isObject()) {
      return schema;
    }
    ObjectNode copy = schema.deepCopy();
    copy.putObject("properties");
    return copy;
  }

  private static Field field(Type type) {
    return new Field(type, Optional.empty(), Optional.empty());
  }

  private static Type typeOf(JsonNode schema) {
    if (schema.path(INT_OR_STRING).asBoolean()) {
      return Scalar.INTSTR;
    }
    boolean atomic = Json.text(schema, "x-kubernetes-map-type").equals("atomic");
    return switch (Json.text(schema, "type")) {
      case "array" -> list(schema);
      case "object" -> object(schema, atomic);
      case "string" -> Scalar.STRING;
      case "integer" -> Scalar.INT;
      case "number" -> Scalar.NUMBER;
      case "boolean" -> Scalar.BOOL;
      default -> Any.ANY;
    };
  }

  private static Type object(JsonNode schema, boolean atomic) {
    if (schema.path("properties").isObject()) {
      Map<String, Field> fields = new LinkedHashMap<>();
      for (Map.Entry<String, JsonNode> property : schema.path("properties").properties()) {
        fields.put(property.getKey(), field(typeOf(property.getValue())));
      }
      return new Struct("", atomic, schema.path(PRESERVE).asBoolean(), fields);
    }
    if (schema.path("additionalProperties").isObject()) {
      return new MapOf(typeOf(schema.path("additionalProperties")), atomic);
    }
    return new MapOf(Any.ATOMIC, atomic);
  }

  private static Type list(JsonNode schema) {
    Type element = typeOf(schema.path("items"));
    return switch (Json.text(schema, "x-kubernetes-list-type")) {
      case "map" -> {
        List<String> keys = new ArrayList<>();
        schema.path("x-kubernetes-list-map-keys").forEach(key -> keys.add(key.asText()));
        yield new ListOf(ListKind.MAP, keys, element);
      }
      case "set" -> new ListOf(ListKind.SET, List.of(), element);
      default -> new ListOf(ListKind.ATOMIC, List.of(), element);
    };
  }
}
