package io.pmemcsi.embedded.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.embedded.json.Json;
import java.math.BigDecimal;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Ranges, lengths and patterns of one value. */
final class ValueRules {
  private final String path;
  private final JsonNode value;
  private final JsonNode schema;
  private final List<FieldError> errors;

  ValueRules(String path, JsonNode value, JsonNode schema, List<FieldError> errors) {
    this.path = path;
    this.value = value;
    this.schema = schema;
    this.errors = errors;
  }

  void check() {
    switch (value.getNodeType()) {
      case NUMBER -> number();
      case STRING -> text();
      case ARRAY -> array();
      case OBJECT -> properties();
      case BOOLEAN, NULL, MISSING, BINARY, POJO -> {}
    }
  }

  private void number() {
    BigDecimal number = value.decimalValue();
    if (schema.path("minimum").isNumber()) {
      int comparison = number.compareTo(schema.path("minimum").decimalValue());
      boolean exclusive = schema.path("exclusiveMinimum").asBoolean();
      refuseIf(
          comparison < 0 || (exclusive && comparison == 0),
          exclusive ? "should be greater than %s" : "should be greater than or equal to %s",
          schema.path("minimum").asText());
    }
    if (schema.path("maximum").isNumber()) {
      int comparison = number.compareTo(schema.path("maximum").decimalValue());
      boolean exclusive = schema.path("exclusiveMaximum").asBoolean();
      refuseIf(
          comparison > 0 || (exclusive && comparison == 0),
          exclusive ? "should be less than %s" : "should be less than or equal to %s",
          schema.path("maximum").asText());
    }
    if (schema.path("multipleOf").isNumber()) {
      refuseIf(
          number.remainder(schema.path("multipleOf").decimalValue()).signum() != 0,
          "should be a multiple of %s",
          schema.path("multipleOf").asText());
    }
  }

  private void text() {
    String text = value.textValue();
    int length = text.codePointCount(0, text.length());
    bounds(length, "minLength", "maxLength", "chars long", "should be at", shown(value));
    String pattern = Json.text(schema, "pattern");
    if (!pattern.isEmpty()) {
      refuseIf(!matches(pattern, text), "should match '%s'", pattern);
    }
  }

  private void array() {
    bounds(
        value.size(),
        "minItems",
        "maxItems",
        "items",
        "should have at",
        Integer.toString(value.size()));
  }

  private void properties() {
    bounds(
        value.size(),
        "minProperties",
        "maxProperties",
        "properties",
        "should have at",
        Integer.toString(value.size()));
  }

  private void bounds(int size, String min, String max, String unit, String words, String shown) {
    if (size < schema.path(min).asLong()) {
      refuse(words + " least %s " + unit, schema.path(min).asText(), shown);
    }
    if (size > schema.path(max).asLong(Long.MAX_VALUE)) {
      refuse(words + " most %s " + unit, schema.path(max).asText(), shown);
    }
  }

  private void refuseIf(boolean wrong, String rule, String limit) {
    if (wrong) {
      refuse(rule, limit, shown(value));
    }
  }

  private void refuse(String rule, String limit, String shown) {
    errors.add(
        FieldError.invalid(path, shown, "%s in body %s".formatted(path, rule.formatted(limit))));
  }

  private static boolean matches(String pattern, String text) {
    try {
      return Pattern.compile(pattern).matcher(text).find();
    } catch (PatternSyntaxException _) {
      // The server's dialect (RE2) knows some notations that Java does not; those are let pass.
      return true;
    }
  }

  /** A value as error messages show it. */
  static String shown(JsonNode value) {
    return value.isTextual() ? Validation.quote(value.textValue()) : value.toString();
  }
}
