package io.pmemcsi.api.schema;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The descriptions of fields in {@code kubectl explain} and docs/api.md. */
class FieldDescriptionsTest {

  @ParameterizedTest
  @EnumSource(KindDetails.class)
  void everyFieldIsDescribed(KindDetails details) {
    Map<String, JsonNode> fields = new TreeMap<>();
    JsonNode schema = new CRDSource(details, true).schema();

    collect("", schema, false, fields);

    assertThat(fields)
        .containsKeys("spec", "status")
        .allSatisfy(
            (path, field) ->
                assertThat(field.path("description").asText()).as(path).hasSizeGreaterThan(10));
  }

  @ParameterizedTest
  @EnumSource(KindDetails.class)
  void everyFieldThatCanBeLeftOutNamesItsDefault(KindDetails details) {
    Map<String, JsonNode> fields = new TreeMap<>();
    JsonNode schema = new CRDSource(details, true).schema();

    collect("spec", schema.at("/properties/spec"), true, fields);

    assertThat(fields)
        .isNotEmpty()
        .allSatisfy(
            (path, field) ->
                assertThat(field.path("description").asText()).as(path).contains("Default: "));
  }

  /**
   * Finds the fields in a schema, all of them or those of this API that need not be set. Kubernetes
   * itself documents metadata.
   */
  private static void collect(
      String path, JsonNode schema, boolean optional, Map<String, JsonNode> fields) {
    if (optional && schema.path("x-kubernetes-preserve-unknown-fields").asBoolean()) {
      return;
    }
    schema
        .path("properties")
        .forEachEntry(
            (name, field) -> {
              String deeper = path.isEmpty() ? name : path + "." + name;
              if (deeper.equals("metadata")) {
                return;
              }
              if (!optional || !isRequired(schema, name)) {
                fields.put(deeper, field);
              }
              collect(deeper, field, optional, fields);
            });
    if (schema.has("items")) {
      collect(path + "[]", schema.path("items"), optional, fields);
    }
  }

  private static boolean isRequired(JsonNode schema, String name) {
    for (JsonNode required : schema.path("required")) {
      if (required.asText().equals(name)) {
        return true;
      }
    }
    return false;
  }
}
