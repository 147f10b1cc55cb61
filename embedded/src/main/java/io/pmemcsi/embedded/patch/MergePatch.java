package io.pmemcsi.embedded.patch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import java.util.Map;

/** JSON merge patch (RFC 7396). */
public final class MergePatch {
  private MergePatch() {}

  /** The patched copy of a value. */
  public static JsonNode apply(JsonNode value, JsonNode patch) {
    if (!patch.isObject()) {
      return patch.deepCopy();
    }
    ObjectNode result = value instanceof ObjectNode object ? object.deepCopy() : Json.object();
    for (Map.Entry<String, JsonNode> field : patch.properties()) {
      if (field.getValue().isNull()) {
        result.remove(field.getKey());
      } else {
        result.set(field.getKey(), apply(result.path(field.getKey()), field.getValue()));
      }
    }
    return result;
  }
}
