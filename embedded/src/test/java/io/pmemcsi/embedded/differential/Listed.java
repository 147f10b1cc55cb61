package io.pmemcsi.embedded.differential;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;

/**
 * What a real server serves, cut down to what the embedded one serves too: that has fewer groups,
 * versions and resources, but those that it has it describes in the same way.
 */
final class Listed {
  private Listed() {}

  static JsonNode by(JsonNode real, JsonNode embedded) {
    return switch (real) {
      case ObjectNode object when embedded.isObject() -> {
        ObjectNode cut = object.deepCopy();
        object
            .properties()
            .forEach(
                field ->
                    cut.set(field.getKey(), by(field.getValue(), embedded.path(field.getKey()))));
        yield cut;
      }
      case ArrayNode array when embedded.isArray() -> {
        ArrayNode cut = Json.array();
        // in the order of the embedded one: it means nothing here
        for (JsonNode wanted : embedded) {
          array.forEach(
              candidate -> {
                if (id(candidate).equals(id(wanted))) {
                  cut.add(by(candidate, wanted));
                }
              });
        }
        yield cut;
      }
      default -> real;
    };
  }

  /** What tells the entries of a list apart: groups and resources have a name. */
  private static String id(JsonNode entry) {
    return entry.isObject()
        ? Json.text(entry, "name") + Json.text(entry, "version")
        : entry.asText();
  }
}
