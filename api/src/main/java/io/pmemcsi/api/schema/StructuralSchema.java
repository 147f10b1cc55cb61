package io.pmemcsi.api.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.client.CustomResource;
import io.pmemcsi.api.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Checks a resource against the schema of its CRD, as an API server does, as far as our schemas go.
 * Rules in CEL are not evaluated: each of them has a twin in the checks of its kind.
 */
public final class StructuralSchema {

  private static final String KEEPS_ALL = "x-kubernetes-preserve-unknown-fields";

  private final JsonNode root;

  private StructuralSchema(JsonNode root) {
    this.root = root;
  }

  /** The schema of a kind. */
  public static StructuralSchema of(Class<? extends CustomResource<?, ?>> kind) {
    return new StructuralSchema(CustomResourceDefinitions.schema(kind));
  }

  /** What an API server would refuse. */
  public List<Violation> violations(JsonNode resource) {
    List<Violation> found = new ArrayList<>();
    check(root, resource, "", found);
    return found;
  }

  /** Fields that an API server would drop, since the schema does not know them. */
  public List<Violation> unknownFields(JsonNode resource) {
    List<Violation> found = new ArrayList<>();
    findUnknown(root, resource, "", found);
    return found;
  }

  private void check(JsonNode schema, JsonNode value, String path, List<Violation> found) {
    if (!hasType(schema, value)) {
      found.add(violation(path, value, "must be %s".formatted(typeName(schema))));
      return;
    }
    ValueRules.check(schema, value).forEach(problem -> found.add(violation(path, value, problem)));
    for (JsonNode field : schema.path("required")) {
      if (!value.has(field.asText())) {
        found.add(new Violation(join(path, field.asText()), "", "is missing: set it"));
      }
    }
    schema
        .path("properties")
        .forEachEntry(
            (name, child) -> {
              if (value.has(name)) {
                check(child, value.path(name), join(path, name), found);
              }
            });
    if (schema.has("additionalProperties")) {
      value.forEachEntry(
          (name, child) ->
              check(schema.path("additionalProperties"), child, join(path, name), found));
    }
    for (int i = 0; value.isArray() && i < value.size(); i++) {
      check(schema.path("items"), value.path(i), path + "[" + i + "]", found);
    }
  }

  private static Violation violation(String path, JsonNode value, String problem) {
    return new Violation(path, value.isContainerNode() ? "" : value.asText(), problem);
  }

  private static boolean hasType(JsonNode schema, JsonNode value) {
    return switch (schema.path("type").asText()) {
      case "string" -> value.isTextual();
      case "integer" -> value.isIntegralNumber();
      case "boolean" -> value.isBoolean();
      case "object" -> value.isObject();
      case "array" -> value.isArray();
      default ->
          !schema.path("x-kubernetes-int-or-string").asBoolean()
              || value.isIntegralNumber()
              || value.isTextual();
    };
  }

  private static String typeName(JsonNode schema) {
    return switch (schema.path("type").asText()) {
      case "string" -> "a text: put it in quotes";
      case "integer" -> "a whole number";
      case "boolean" -> "true or false";
      case "object" -> "a map of fields";
      case "array" -> "a list";
      default -> "a whole number or a text";
    };
  }

  private void findUnknown(JsonNode schema, JsonNode value, String path, List<Violation> found) {
    for (int i = 0; value.isArray() && i < value.size(); i++) {
      findUnknown(schema.path("items"), value.path(i), path + "[" + i + "]", found);
    }
    if (!value.isObject()
        || schema.path(KEEPS_ALL).asBoolean()
        || schema.has("additionalProperties")
        || path.equals("metadata")) {
      return;
    }
    value.forEachEntry(
        (name, child) -> {
          JsonNode known = schema.path("properties").path(name);
          if (known.isMissingNode() && !(path.isEmpty() && isEnvelope(name))) {
            found.add(new Violation(join(path, name), "", "is not a field" + advice(schema, name)));
          } else if (!known.isMissingNode()) {
            findUnknown(known, child, join(path, name), found);
          }
        });
  }

  private static boolean isEnvelope(String name) {
    return name.equals("apiVersion") || name.equals("kind") || name.equals("metadata");
  }

  /** A field with the same characters, or one that only differs at its end, is likely meant. */
  private static String advice(JsonNode schema, String name) {
    Pattern separators = Pattern.compile("[-_ ]");
    String given = separators.matcher(name).replaceAll("").toLowerCase(Locale.ROOT);
    List<String> fields = new ArrayList<>();
    schema.path("properties").fieldNames().forEachRemaining(fields::add);
    Optional<String> near =
        fields.stream().filter(field -> alike(field.toLowerCase(Locale.ROOT), given)).findFirst();
    return near.map(field -> ": did you mean " + field + "?")
        .orElse(": remove it; the fields here are " + String.join(", ", fields));
  }

  private static boolean alike(String one, String other) {
    int same = 0;
    while (same < Math.min(one.length(), other.length())
        && one.charAt(same) == other.charAt(same)) {
      same++;
    }
    return same >= 4 && Math.max(one.length(), other.length()) - same <= 2;
  }

  private static String join(String path, String name) {
    return path.isEmpty() ? name : path + "." + name;
  }
}
