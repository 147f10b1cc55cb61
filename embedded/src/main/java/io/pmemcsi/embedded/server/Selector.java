package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.embedded.json.Json;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Label and field selectors of lists and watches. */
final class Selector {
  /** The last one is a field of events. */
  private static final Set<String> FIELDS =
      Set.of("metadata.name", "metadata.namespace", "involvedObject.uid");

  private Selector() {}

  /** Which objects a list or watch selects. */
  static Predicate<JsonNode> of(ApiRequest request) {
    List<Predicate<JsonNode>> labels =
        parts(request.parameter("labelSelector")).map(Selector::label).toList();
    List<Predicate<JsonNode>> fields =
        parts(request.parameter("fieldSelector")).map(Selector::field).toList();
    return object ->
        labels.stream().allMatch(rule -> rule.test(Json.at(object, "metadata", "labels")))
            && fields.stream().allMatch(rule -> rule.test(object));
  }

  private static Stream<String> parts(String selector) {
    if (selector.contains("(")) {
      throw ApiException.unsupported("set-based selectors: " + selector);
    }
    return Stream.of(selector.split(",", -1)).map(String::strip).filter(part -> !part.isEmpty());
  }

  private static Predicate<JsonNode> label(String part) {
    if (part.contains("=")) {
      String[] sides = sides(part);
      boolean equal = !part.contains("!=");
      return labels -> equal == Json.text(labels, sides[0]).equals(sides[1]);
    }
    return part.startsWith("!")
        ? labels -> !labels.has(part.substring(1))
        : labels -> labels.has(part);
  }

  private static Predicate<JsonNode> field(String part) {
    String[] sides = sides(part);
    if (!FIELDS.contains(sides[0])) {
      throw ApiException.badRequest("field label not supported: " + sides[0]);
    }
    boolean equal = !part.contains("!=");
    return object -> equal == Json.text(object, sides[0].split("\\.", -1)).equals(sides[1]);
  }

  private static String[] sides(String part) {
    return part.split("\\s*(==|!=|=)\\s*", 2);
  }
}
