package io.pmemcsi.embedded.schema;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;

/** Fills in the defaults of a structural schema; a null that is not allowed counts as absent. */
final class Defaulting {
  private final boolean dropNulls;

  Defaulting(boolean dropNulls) {
    this.dropNulls = dropNulls;
  }

  void root(ObjectNode object, JsonNode schema) {
    fill(object, schema);
  }

  private void fill(JsonNode value, JsonNode schema) {
    switch (value) {
      case ArrayNode array -> array.forEach(item -> fill(item, schema.path("items")));
      case ObjectNode object -> fillObject(object, schema);
      default -> {}
    }
  }

  private void fillObject(ObjectNode object, JsonNode schema) {
    JsonNode properties = schema.path("properties");
    for (Map.Entry<String, JsonNode> property : properties.properties()) {
      JsonNode value = object.get(property.getKey());
      boolean forbiddenNull =
          value != null && value.isNull() && !property.getValue().path("nullable").asBoolean();
      if (value == null || forbiddenNull) {
        JsonNode preset = property.getValue().get("default");
        if (preset != null) {
          object.set(property.getKey(), preset.deepCopy());
        } else if (forbiddenNull && dropNulls) {
          object.remove(property.getKey());
        }
      }
    }
    for (Map.Entry<String, JsonNode> field : object.properties()) {
      JsonNode property = properties.path(field.getKey());
      fill(field.getValue(), property.isObject() ? property : schema.path("additionalProperties"));
    }
  }
}
