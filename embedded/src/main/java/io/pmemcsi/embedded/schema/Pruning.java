package io.pmemcsi.embedded.schema;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/** Drops what a structural schema does not know from a custom resource. */
final class Pruning {
  private static final Set<String> RESOURCE_FIELDS = Set.of("apiVersion", "kind", "metadata");

  void root(ObjectNode object, JsonNode schema) {
    prune(object, schema, true);
  }

  private void prune(JsonNode value, JsonNode schema, boolean resource) {
    if (value instanceof ArrayNode array) {
      array.forEach(item -> prune(item, schema.path("items"), false));
    } else if (value instanceof ObjectNode object) {
      pruneObject(object, schema, resource || schema.path(CustomSchema.EMBEDDED).asBoolean());
    }
  }

  private void pruneObject(ObjectNode object, JsonNode schema, boolean resource) {
    boolean preserve = schema.path(CustomSchema.PRESERVE).asBoolean();
    JsonNode properties = schema.path("properties");
    JsonNode additional = schema.path("additionalProperties");
    Iterator<Map.Entry<String, JsonNode>> fields = object.properties().iterator();
    while (fields.hasNext()) {
      Map.Entry<String, JsonNode> field = fields.next();
      JsonNode property = properties.path(field.getKey());
      if (resource && RESOURCE_FIELDS.contains(field.getKey())) {
        continue;
      }
      if (property.isObject()) {
        prune(field.getValue(), property, false);
      } else if (additional.isObject()) {
        prune(field.getValue(), additional, false);
      } else if (!preserve && !additional.asBoolean()) {
        fields.remove();
      }
    }
  }
}
