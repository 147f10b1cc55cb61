package io.pmemcsi.embedded.schema;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.schema.Type.Field;
import io.pmemcsi.embedded.schema.Type.Struct;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The OpenAPI schema of one version of a custom kind. It is used for pruning only: objects are
 * neither validated nor given defaults.
 *
 * @param openApi the schema in the definition
 */
public record CustomSchema(JsonNode openApi) {
  private static final Set<String> RESOURCE_FIELDS = Set.of("apiVersion", "kind", "metadata");

  /** Drops unknown fields and nulls, in place. */
  public void prune(ObjectNode object) {
    prune(object, openApi, true);
  }

  private static void prune(JsonNode value, JsonNode schema, boolean resource) {
    if (value instanceof ArrayNode array) {
      array.forEach(item -> prune(item, schema.path("items"), false));
    } else if (value instanceof ObjectNode object) {
      boolean embedded = schema.path("x-kubernetes-embedded-resource").asBoolean();
      fields(object, schema, resource || embedded);
    }
  }

  private static void fields(ObjectNode object, JsonNode schema, boolean resource) {
    boolean preserve = schema.path("x-kubernetes-preserve-unknown-fields").asBoolean();
    JsonNode additional = schema.path("additionalProperties");
    Iterator<Map.Entry<String, JsonNode>> fields = object.properties().iterator();
    while (fields.hasNext()) {
      Map.Entry<String, JsonNode> field = fields.next();
      JsonNode property = schema.path("properties").path(field.getKey());
      if (resource && RESOURCE_FIELDS.contains(field.getKey())) {
        continue;
      }
      if (field.getValue().isNull()) {
        fields.remove();
      } else if (property.isObject()) {
        prune(field.getValue(), property, false);
      } else if (additional.isObject()) {
        prune(field.getValue(), additional, false);
      } else if (!preserve && !additional.asBoolean()) {
        fields.remove();
      }
    }
  }

  /**
   * The type for merging. Kubernetes 1.20 knows no types for a schema that contains an
   * int-or-string or an alternative, as those of this project do: fields are merged by name, lists
   * are replaced as a whole. Newer versions know at least the metadata.
   */
  public static Struct mergeType(boolean newer, Struct objectMeta) {
    return new Struct("", false, true, newer ? Map.of("metadata", field(objectMeta)) : Map.of());
  }

  private static Field field(Struct type) {
    return new Field(type, Optional.empty(), Optional.empty());
  }
}
