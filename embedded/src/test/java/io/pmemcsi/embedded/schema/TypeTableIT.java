package io.pmemcsi.embedded.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Type.Any;
import io.pmemcsi.embedded.schema.Type.Field;
import io.pmemcsi.embedded.schema.Type.ListKind;
import io.pmemcsi.embedded.schema.Type.ListOf;
import io.pmemcsi.embedded.schema.Type.MapOf;
import io.pmemcsi.embedded.schema.Type.Scalar;
import io.pmemcsi.embedded.schema.Type.Struct;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The table of built-in types says what the real server says. */
@WithKubernetes(controllers = false)
class TypeTableIT {
  @Test
  void everyTypeHasTheFieldsTheirTypesAndTheListKeysOfTheRealServer(
      Sandbox sandbox, KubernetesClient client) {
    assumeTrue(sandbox.version().toString().equals("1.20"), "the table is that of 1.20");
    JsonNode definitions = Json.parse(client.raw("/openapi/v2")).path("definitions");
    List<String> differences = new ArrayList<>();
    for (Struct type : TypeTable.read(false).types().values()) {
      List<String> wrong = new ArrayList<>();
      boolean found = false;
      for (Map.Entry<String, JsonNode> definition : definitions.properties()) {
        if (definition.getKey().endsWith("." + type.name())) {
          List<String> lines = compare(type, definition.getValue());
          found |= lines.isEmpty();
          wrong.addAll(lines);
        }
      }
      // several groups have types of one name; the table's is one of them
      if (!found && !type.name().equals("CSIStorageCapacity")) {
        differences.add(type.name() + ": " + wrong);
      }
    }

    assertThat(differences).isEmpty();
  }

  private static List<String> compare(Struct type, JsonNode definition) {
    List<String> lines = new ArrayList<>();
    JsonNode properties = definition.path("properties");
    TreeSet<String> names = new TreeSet<>(type.fields().keySet());
    properties.fieldNames().forEachRemaining(names::add);
    if (definition.has("x-kubernetes-group-version-kind")) {
      names.removeAll(List.of("apiVersion", "kind"));
    }
    for (String name : names) {
      Field field = type.fields().get(name);
      JsonNode property = properties.path(name);
      if (field == null || property.isMissingNode()) {
        lines.add(name + " is only on one side");
      } else if (!fits(field.type(), property)) {
        lines.add("%s is really %s".formatted(name, property));
      } else if (field.type() instanceof ListOf list && list.element() != Any.ANY) {
        String keys =
            list.kind() == ListKind.MAP ? String.join(",", list.keys()) : list.kind().name();
        if (!keys.equals(keys(property))) {
          lines.add("%s is merged by %s, really by %s".formatted(name, keys, keys(property)));
        }
      }
    }
    return lines;
  }

  private static boolean fits(Type type, JsonNode property) {
    return switch (type) {
      case Any _ -> true;
      case ListOf list -> is(property, "array") && fits(list.element(), property.path("items"));
      case MapOf map ->
          is(property, "object") && fits(map.element(), property.path("additionalProperties"));
      case Struct struct -> referred(property).equals(struct.name());
      case Scalar scalar ->
          switch (scalar) {
            case STRING -> is(property, "string") && !property.has("format");
            case BYTES -> is(property, "string") && Json.text(property, "format").equals("byte");
            case INT -> is(property, "integer");
            case NUMBER -> is(property, "number");
            case BOOL -> is(property, "boolean");
            case TIME -> referred(property).equals("Time");
            case MICROTIME -> referred(property).equals("MicroTime");
            case QUANTITY -> referred(property).equals("Quantity");
            case INTSTR -> referred(property).equals("IntOrString");
          };
    };
  }

  private static boolean is(JsonNode property, String type) {
    return Json.text(property, "type").equals(type);
  }

  /** The name of the definition that is referred to, without its package. */
  private static String referred(JsonNode property) {
    String reference = Json.text(property, "$ref");
    return reference.substring(reference.lastIndexOf('.') + 1);
  }

  private static String keys(JsonNode property) {
    List<String> keys = new ArrayList<>();
    property.path("x-kubernetes-list-map-keys").forEach(key -> keys.add(key.asText()));
    String listType = Json.text(property, "x-kubernetes-list-type");
    if (!keys.isEmpty()) {
      return String.join(",", keys);
    }
    if (listType.equals("set")) {
      return "SET";
    }
    boolean merged = Json.text(property, "x-kubernetes-patch-strategy").contains("merge");
    if (!merged || listType.equals("atomic")) {
      return "ATOMIC";
    }
    String key = Json.text(property, "x-kubernetes-patch-merge-key");
    return key.isEmpty() ? "SET" : key;
  }
}
