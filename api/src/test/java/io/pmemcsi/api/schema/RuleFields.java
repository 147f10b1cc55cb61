package io.pmemcsi.api.schema;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * The fields that a rule in CEL reads. One that its schema does not have is never set: evaluated
 * without types, such a rule holds for every resource.
 */
final class RuleFields {

  private static final Pattern TEXT = Pattern.compile("'[^']*'");

  /** A variable for the entries of a list. */
  private static final Pattern VARIABLE =
      Pattern.compile("self((?:[.]\\w+)+?)[.](?:all|exists|exists_one|filter)[(](\\w+),");

  /** A path of fields, without the function that may be called at its end. */
  private static final Pattern PATH =
      Pattern.compile("(?<![\\w.])([a-z]+)((?:[.][a-zA-Z_]+\\b(?![(]))+)");

  private RuleFields() {}

  /** The paths in a rule that the schema with the rule does not have. */
  static List<String> unknown(String rule, JsonNode schema) {
    String code = TEXT.matcher(rule).replaceAll("''");
    Map<String, JsonNode> variables = new HashMap<>(Map.of("self", schema));
    VARIABLE
        .matcher(code)
        .results()
        .forEach(found -> variables.put(found.group(2), at(schema, found.group(1)).path("items")));
    return PATH.matcher(code)
        .results()
        .filter(found -> isUnknown(found, variables))
        .map(MatchResult::group)
        .distinct()
        .toList();
  }

  private static boolean isUnknown(MatchResult path, Map<String, JsonNode> variables) {
    JsonNode start = variables.getOrDefault(path.group(1), MissingNode.getInstance());
    return at(start, path.group(2)).isMissingNode();
  }

  private static JsonNode at(JsonNode schema, String path) {
    return schema.at(path.replace(".", "/properties/"));
  }
}
