package io.pmemcsi.api.schema;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.pmemcsi.api.ResourceChecks;
import io.pmemcsi.api.Sample;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.projectnessie.cel.checker.Decls;
import org.projectnessie.cel.tools.ScriptException;
import org.projectnessie.cel.tools.ScriptHost;

/** The rules that only newer servers know, tried without one. */
class CelRulesTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final ScriptHost CEL = ScriptHost.newBuilder().build();
  private static final Map<KindDetails, JsonNode> SCHEMAS = new EnumMap<>(KindDetails.class);

  @ParameterizedTest
  @MethodSource("invalid")
  void aRuleSaysTheSameInCelAsInJava(Sample sample) {
    assertThat(broken(sample)).isEqualTo(sample.rule().map(List::of).orElse(List.of()));
  }

  @ParameterizedTest
  @MethodSource("valid")
  void aGoodResourceBreaksNoRule(Sample sample) {
    assertThat(broken(sample)).isEmpty();
  }

  /** The messages of all rules that a resource breaks. */
  private static List<String> broken(Sample sample) {
    JsonNode resource = sample.resource();
    KindDetails details =
        Arrays.stream(KindDetails.values())
            .filter(one -> ResourceChecks.kind(resource).equals(Optional.of(one.kind())))
            .findFirst()
            .orElseThrow();
    List<String> messages = new ArrayList<>();
    JsonNode schema = SCHEMAS.computeIfAbsent(details, one -> new CRDSource(one, true).schema());
    evaluate(schema, resource, messages);
    return messages;
  }

  private static void evaluate(JsonNode schema, JsonNode value, List<String> messages) {
    for (JsonNode rule : schema.path("x-kubernetes-validations")) {
      if (!holds(rule.path("rule").asText(), value)) {
        messages.add(rule.path("message").asText());
      }
    }
    schema
        .path("properties")
        .forEachEntry(
            (name, child) -> {
              if (value.has(name)) {
                evaluate(child, value.path(name), messages);
              }
            });
  }

  private static boolean holds(String rule, JsonNode self) {
    try {
      return CEL.buildScript(rule)
          .withDeclarations(Decls.newVar("self", Decls.Dyn))
          .build()
          .execute(Boolean.class, Map.of("self", JSON.convertValue(self, Map.class)));
    } catch (ScriptException e) {
      throw new AssertionError("rule " + rule, e);
    }
  }

  static Stream<Sample> valid() {
    return Sample.valid().stream();
  }

  /** Rules are only looked at where the rest of the schema is kept. */
  static Stream<Sample> invalid() {
    return Sample.invalid().stream().filter(sample -> sample.server().isEmpty());
  }
}
