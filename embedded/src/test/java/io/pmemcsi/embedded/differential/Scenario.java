package io.pmemcsi.embedded.differential;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.embedded.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.yaml.snakeyaml.Yaml;

/** Requests that belong together, sent in order. */
record Scenario(String name, List<Step> steps) {
  private static final Set<String> OPERATIONS =
      Set.of(
          "wait", "gone", "ending", "single", "forget", "watch", "get", "list", "create", "update",
          "delete", "apply", "merge", "json");

  /** Reads a table of scenarios. */
  static List<Scenario> read(String file) {
    try (InputStream in = Scenario.class.getResourceAsStream(file)) {
      List<Scenario> scenarios = new ArrayList<>();
      // the parser below Jackson's, because that one does not follow aliases
      JsonNode table = Json.MAPPER.valueToTree(new Yaml().load(in));
      table
          .properties()
          .forEach(
              entry -> {
                List<Step> steps = new ArrayList<>();
                entry.getValue().forEach(step -> steps.add(step(step)));
                scenarios.add(new Scenario(entry.getKey(), steps));
              });
      return scenarios;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Step step(JsonNode node) {
    String operation =
        OPERATIONS.stream()
            .filter(node::has)
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("no operation in " + node));
    return new Step(
        operation,
        node.path(operation).asText(),
        node.path("by").asText(""),
        node.path("query").asText(""),
        Optional.ofNullable(node.get("body")),
        node.path("keep").asText(""),
        node.path("differs").asText(""));
  }

  @Override
  public String toString() {
    return name;
  }
}
