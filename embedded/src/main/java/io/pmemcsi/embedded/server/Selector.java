package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Label and field selectors of lists and watches. */
final class Selector {
  private static final Pattern SET =
      Pattern.compile("\\s*(\\S+)\\s+(in|notin)\\s*\\(([^)]*)\\)\\s*");
  private static final Pattern EQUALITY =
      Pattern.compile("\\s*([^=!\\s]+)\\s*(==|=|!=)\\s*(.*?)\\s*");
  private static final Pattern EXISTS = Pattern.compile("\\s*(!?)\\s*([^=!\\s]+)\\s*");

  /** The fields besides name and namespace that some kinds can be selected by. */
  private static final Map<String, Set<String>> MORE_FIELDS =
      Map.of(
          "pods",
              Set.of(
                  "spec.nodeName", "status.phase", "spec.restartPolicy", "spec.serviceAccountName"),
          "events",
              Set.of(
                  "involvedObject.kind",
                  "involvedObject.namespace",
                  "involvedObject.name",
                  "involvedObject.uid",
                  "reason",
                  "type"),
          "secrets", Set.of("type"),
          "nodes", Set.of("spec.unschedulable"),
          "namespaces", Set.of("status.phase"));

  private Selector() {}

  static Predicate<JsonNode> labels(String text) {
    List<Predicate<JsonNode>> rules = new ArrayList<>();
    for (String part : parts(text)) {
      rules.add(labelRule(part));
    }
    return object ->
        rules.stream().allMatch(rule -> rule.test(Json.at(object, "metadata", "labels")));
  }

  private static Predicate<JsonNode> labelRule(String part) {
    Matcher set = SET.matcher(part);
    if (set.matches()) {
      Set<String> values = Set.of(set.group(3).strip().split("\\s*,\\s*", -1));
      boolean in = set.group(2).equals("in");
      return labels ->
          in == (labels.has(set.group(1)) && values.contains(Json.text(labels, set.group(1))));
    }
    Matcher equality = EQUALITY.matcher(part);
    if (equality.matches()) {
      boolean equal = !equality.group(2).equals("!=");
      return labels ->
          equal
              == (labels.has(equality.group(1))
                  && Json.text(labels, equality.group(1)).equals(equality.group(3)));
    }
    Matcher exists = EXISTS.matcher(part);
    if (exists.matches()) {
      return labels -> labels.has(exists.group(2)) == exists.group(1).isEmpty();
    }
    throw ApiException.badRequest("unable to parse requirement: " + part);
  }

  static Predicate<JsonNode> fields(String text, ResourceType type) {
    List<Predicate<JsonNode>> rules = new ArrayList<>();
    for (String part : parts(text)) {
      Matcher equality = EQUALITY.matcher(part);
      if (!equality.matches()) {
        throw ApiException.badRequest("invalid field selector: " + part);
      }
      checkKnown(equality.group(1), type);
      String[] path = equality.group(1).split("\\.", -1);
      boolean equal = !equality.group(2).equals("!=");
      rules.add(object -> equal == scalar(Json.at(object, path)).equals(equality.group(3)));
    }
    return object -> rules.stream().allMatch(rule -> rule.test(object));
  }

  private static void checkKnown(String field, ResourceType type) {
    boolean known =
        field.equals("metadata.name")
            || field.equals("metadata.namespace")
            || MORE_FIELDS.getOrDefault(type.groupResource(), Set.of()).contains(field);
    if (!known) {
      throw ApiException.badRequest(
          type.custom().isPresent()
              ? "field label not supported: " + field
              : "\"%s\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
                  .formatted(field));
    }
  }

  private static String scalar(JsonNode node) {
    return node.isValueNode() && !node.isNull() ? node.asText() : "";
  }

  /** Splits at commas, but not inside the parentheses of a set. */
  private static List<String> parts(String text) {
    List<String> parts = new ArrayList<>();
    int depth = 0;
    int start = 0;
    for (int i = 0; i <= text.length(); i++) {
      char c = i == text.length() ? ',' : text.charAt(i);
      if (c == '(') {
        depth++;
      } else if (c == ')') {
        depth--;
      } else if (c == ',' && (depth == 0 || i == text.length())) {
        if (i > start) {
          parts.add(text.substring(start, i));
        }
        start = i + 1;
      }
    }
    return parts;
  }
}
