package io.pmemcsi.api.schema;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/** The rules of a schema for a single value: ranges, lengths, patterns, choices. */
final class ValueRules {

  private static final Pattern BASE64 =
      Pattern.compile("([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?");
  private static final Map<String, Pattern> PATTERNS = new ConcurrentHashMap<>();

  private ValueRules() {}

  /** What is wrong with a value of the right type. */
  static List<String> check(JsonNode schema, JsonNode value) {
    List<String> problems = new ArrayList<>();
    if (schema.has("enum") && !contains(schema.path("enum"), value)) {
      problems.add("must be one of " + listed(schema.path("enum")));
    }
    if (value.isNumber()) {
      checkNumber(schema, value, problems);
    }
    if (value.isTextual()) {
      checkText(schema, value.asText(), problems);
    }
    if (value.isArray()) {
      checkSize(schema, value.size(), "minItems", "maxItems", "entries", problems);
    }
    if (value.isObject()) {
      checkSize(schema, value.size(), "minProperties", "maxProperties", "entries", problems);
    }
    return problems;
  }

  private static void checkNumber(JsonNode schema, JsonNode value, List<String> problems) {
    if (schema.has("minimum")
        && value.decimalValue().compareTo(schema.path("minimum").decimalValue()) < 0) {
      problems.add("must be at least " + schema.path("minimum").asText());
    }
    if (schema.has("maximum")
        && value.decimalValue().compareTo(schema.path("maximum").decimalValue()) > 0) {
      problems.add("must be at most " + schema.path("maximum").asText());
    }
  }

  private static void checkText(JsonNode schema, String text, List<String> problems) {
    int length = text.codePointCount(0, text.length());
    checkSize(schema, length, "minLength", "maxLength", "characters", problems);
    if (schema.has("pattern") && !pattern(schema).matcher(text).find()) {
      problems.add("must match " + schema.path("pattern").asText());
    }
    if (schema.path("format").asText().equals("byte") && !BASE64.matcher(text).matches()) {
      problems.add("must be encoded in base64");
    }
  }

  private static void checkSize(
      JsonNode schema, int size, String least, String most, String unit, List<String> problems) {
    if (schema.has(least) && size < schema.path(least).asInt()) {
      problems.add("must have at least %s %s".formatted(schema.path(least).asText(), unit));
    }
    if (schema.has(most) && size > schema.path(most).asInt()) {
      problems.add("must have at most %s %s".formatted(schema.path(most).asText(), unit));
    }
  }

  private static Pattern pattern(JsonNode schema) {
    return PATTERNS.computeIfAbsent(schema.path("pattern").asText(), GoPattern::compile);
  }

  private static boolean contains(JsonNode choices, JsonNode value) {
    for (JsonNode choice : choices) {
      if (choice.equals(value)) {
        return true;
      }
    }
    return false;
  }

  private static String listed(JsonNode choices) {
    List<String> texts = new ArrayList<>();
    choices.forEach(choice -> texts.add(choice.asText()));
    texts.removeIf(String::isEmpty);
    return String.join(", ", texts);
  }
}
