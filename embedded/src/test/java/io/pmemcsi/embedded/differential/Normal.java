package io.pmemcsi.embedded.differential;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.pmemcsi.embedded.json.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Removes from a response what differs between any two servers. Of a refusal, only the reason and
 * the fields of its causes are left: the embedded API has messages of its own.
 */
final class Normal {
  private static final Pattern UID =
      Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  private static final Pattern TIME = Pattern.compile("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ");
  private static final Pattern ADDRESS =
      Pattern.compile("10\\.96\\.\\d+\\.\\d+|10\\.\\d+\\.\\d+\\.\\d+");
  private static final Pattern DEEP = Pattern.compile("^((?:\\.[a-zA-Z]+){3})[.\\[].*$");
  private static final Set<String> REMOVED =
      Set.of("resourceVersion", "selfLink", "continue", "time");
  private static final Set<String> CONTROLLERS =
      Set.of("kube-controller-manager", "kube-apiserver");

  private Normal() {}

  static JsonNode of(JsonNode answer, String namespace) {
    String text = UID.matcher(answer.toString().replace(namespace, "NS")).replaceAll("UID");
    JsonNode copy = Json.parse(text);
    clean(copy);
    return copy;
  }

  private static void clean(JsonNode node) {
    switch (node) {
      case ObjectNode object -> object(object);
      case ArrayNode array -> {
        for (int i = 0; i < array.size(); i++) {
          array.set(i, cleaned(array.get(i)));
        }
      }
      default -> {}
    }
  }

  private static void object(ObjectNode object) {
    object.remove(REMOVED);
    for (Map.Entry<String, JsonNode> field : List.copyOf(object.properties())) {
      if (field.getValue().isNull()) {
        object.remove(field.getKey());
      } else {
        object.set(field.getKey(), cleaned(field.getValue()));
      }
    }
    if (object.get("managedFields") instanceof ArrayNode managers) {
      object.set("managedFields", managers(managers));
    }
    if (Json.text(object, "status").equals("Failure")) {
      Set<String> fields = new TreeSet<>();
      Json.at(object, "details", "causes").forEach(cause -> fields.add(shortened(cause)));
      object.retain("kind", "status", "reason", "code");
      fields.forEach(object.putArray("fields")::add);
    }
  }

  /** The real server mixes up the ends of deep paths when it lists several conflicts. */
  private static String shortened(JsonNode cause) {
    return DEEP.matcher(Json.text(cause, "field")).replaceAll("$1...");
  }

  private static JsonNode cleaned(JsonNode node) {
    if (node.isTextual()) {
      String text = TIME.matcher(node.textValue()).replaceAll("TIME");
      return TextNode.valueOf(ADDRESS.matcher(text).replaceAll("ADDRESS"));
    }
    clean(node);
    return node;
  }

  /** Managers of the same second have no order; the managers of controllers are not compared. */
  private static ArrayNode managers(ArrayNode managers) {
    ArrayNode own = Json.array();
    for (JsonNode manager : managers) {
      if (!CONTROLLERS.contains(Json.text(manager, "manager"))) {
        own.add(manager);
      }
    }
    return sorted(own);
  }

  private static ArrayNode sorted(ArrayNode array) {
    List<JsonNode> items = new ArrayList<>();
    array.forEach(items::add);
    items.sort(Comparator.comparing(Normal::order));
    ArrayNode result = Json.array();
    items.stream().distinct().forEach(result::add);
    return result;
  }

  private static String order(JsonNode node) {
    return Json.text(node, "operation")
        + Json.text(node, "manager")
        + Json.text(node, "field")
        + Json.text(node, "message");
  }

  /** The places where two trees differ, one line each. */
  static List<String> differences(JsonNode real, JsonNode embedded) {
    List<String> lines = new ArrayList<>();
    compare("", real, embedded, lines);
    return lines;
  }

  private static void compare(String path, JsonNode real, JsonNode embedded, List<String> lines) {
    if (Json.same(real, embedded)) {
      return;
    }
    if (real.isObject() && embedded.isObject()) {
      Set<String> names = new TreeSet<>();
      real.fieldNames().forEachRemaining(names::add);
      embedded.fieldNames().forEachRemaining(names::add);
      names.forEach(
          name -> compare(path + "/" + name, real.path(name), embedded.path(name), lines));
    } else if (real.isArray() && embedded.isArray() && real.size() == embedded.size()) {
      for (int i = 0; i < real.size(); i++) {
        compare(path + "/" + i, real.get(i), embedded.get(i), lines);
      }
    } else {
      lines.add("%s: real %s, embedded %s".formatted(path, real, embedded));
    }
  }
}
