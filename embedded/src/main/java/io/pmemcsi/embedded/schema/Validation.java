package io.pmemcsi.embedded.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.embedded.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Checks a custom resource against its schema and words the errors as the API server does. */
final class Validation {
  private final List<FieldError> errors = new ArrayList<>();

  List<FieldError> root(JsonNode object, JsonNode schema) {
    check("", object, schema);
    return errors;
  }

  private void check(String path, JsonNode value, JsonNode schema) {
    if (value.isNull() && schema.path("nullable").asBoolean()) {
      return;
    }
    if (!typeFits(value, schema)) {
      String actual = typeName(value);
      errors.add(
          FieldError.invalid(
              path,
              quote(actual),
              "%s in body must be of type %s: %s"
                  .formatted(path, wantedType(schema), quote(actual))));
      return;
    }
    checkEnum(path, value, schema);
    new ValueRules(path, value, schema, errors).check();
    checkAlternatives(path, value, schema);
    if (value.isObject()) {
      checkObject(path, value, schema);
    } else if (value.isArray()) {
      int index = 0;
      for (JsonNode item : value) {
        check(itemPath(path, index++), item, schema.path("items"));
      }
    }
  }

  private void checkObject(String path, JsonNode value, JsonNode schema) {
    for (JsonNode required : schema.path("required")) {
      if (!value.has(required.asText())) {
        errors.add(
            FieldError.required(child(path.replaceFirst("\\[\\d+]$", ""), required.asText()), ""));
      }
    }
    for (Map.Entry<String, JsonNode> field : value.properties()) {
      JsonNode property = schema.path("properties").path(field.getKey());
      JsonNode rules = property.isObject() ? property : schema.path("additionalProperties");
      if (rules.isObject()) {
        check(child(path, field.getKey()), field.getValue(), rules);
      }
    }
  }

  private void checkEnum(String path, JsonNode value, JsonNode schema) {
    JsonNode allowed = schema.path("enum");
    if (!allowed.isArray()) {
      return;
    }
    List<String> names = new ArrayList<>();
    for (JsonNode candidate : allowed) {
      if (Json.same(candidate, value)) {
        return;
      }
      names.add(quote(candidate.isTextual() ? candidate.textValue() : candidate.toString()));
    }
    errors.add(
        new FieldError(
            "FieldValueNotSupported",
            path,
            "Unsupported value: %s: supported values: %s"
                .formatted(ValueRules.shown(value), String.join(", ", names))));
  }

  private void checkAlternatives(String path, JsonNode value, JsonNode schema) {
    for (JsonNode part : schema.path("allOf")) {
      check(path, value, part);
    }
    if (schema.path("anyOf").isArray() && valid(value, schema.path("anyOf")) == 0) {
      errors.add(alternatives(path, "%s in body must validate at least one schema (anyOf)"));
    }
    if (schema.path("oneOf").isArray()) {
      int valid = valid(value, schema.path("oneOf"));
      if (valid != 1) {
        String found = valid == 0 ? "Found none valid" : "Found " + valid + " valid alternatives";
        errors.add(
            alternatives(
                path, "%s in body must validate one and only one schema (oneOf). " + found));
      }
    }
    if (schema.path("not").isObject()
        && new Validation().root(value, schema.path("not")).isEmpty()) {
      errors.add(alternatives(path, "%s in body must not validate the schema (not)"));
    }
  }

  private static FieldError alternatives(String path, String message) {
    return FieldError.invalid(path, quote(""), message.formatted(quote(path)));
  }

  private static int valid(JsonNode value, JsonNode schemas) {
    int valid = 0;
    for (JsonNode schema : schemas) {
      if (new Validation().root(value, schema).isEmpty()) {
        valid++;
      }
    }
    return valid;
  }

  private static boolean typeFits(JsonNode value, JsonNode schema) {
    if (schema.path(CustomSchema.INT_OR_STRING).asBoolean()) {
      return value.isIntegralNumber() || value.isTextual();
    }
    return switch (Json.text(schema, "type")) {
      case "object" -> value.isObject();
      case "array" -> value.isArray();
      case "string" -> value.isTextual();
      case "boolean" -> value.isBoolean();
      case "number" -> value.isNumber();
      case "integer" -> value.isNumber() && value.decimalValue().stripTrailingZeros().scale() <= 0;
      default -> true;
    };
  }

  private static String wantedType(JsonNode schema) {
    String type = Json.text(schema, "type");
    return type.isEmpty() ? "integer,string" : type;
  }

  private static String typeName(JsonNode value) {
    return switch (value.getNodeType()) {
      case OBJECT, POJO -> "object";
      case ARRAY -> "array";
      case STRING, BINARY -> "string";
      case BOOLEAN -> "boolean";
      case NUMBER -> value.isIntegralNumber() ? "integer" : "number";
      case NULL, MISSING -> "null";
    };
  }

  // The server of 1.20 does not say which item it is where a field is missing; it does elsewhere.
  private static String itemPath(String path, int index) {
    return "%s[%d]".formatted(path, index);
  }

  private static String child(String path, String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  static String quote(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
