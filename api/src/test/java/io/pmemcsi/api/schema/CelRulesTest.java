package io.pmemcsi.api.schema;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.pmemcsi.api.Sample;
import io.pmemcsi.api.kinds.ResourceChecks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
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

  @ParameterizedTest
  @EnumSource(KindDetails.class)
  void aRuleReadsOnlyFieldsThatItsSchemaHas(KindDetails details) {
    for (JsonNode schema : schema(details).findParents("x-kubernetes-validations")) {
      for (JsonNode rule : schema.path("x-kubernetes-validations")) {
        assertThat(RuleFields.unknown(rule.path("rule").asText(), schema)).isEmpty();
      }
    }
  }

  @Test
  void aMisspeltFieldInARuleIsFound() {
    JsonNode schema = schema(KindDetails.GENERIC).at("/properties/spec");

    assertThat(RuleFields.unknown("!has(self.sidecars) || self.sidecar.x.matches('a')", schema))
        .containsExactly("self.sidecar.x");
    assertThat(
            RuleFields.unknown(
                "self.storageClassTemplates.all(c, c.metadata.nam != c.metadata.name)", schema))
        .containsExactly("c.metadata.nam");
  }

  @Test
  void everyRuleIsBrokenByASample() {
    List<String> seen =
        Sample.invalid().stream().flatMap(sample -> sample.rule().stream()).toList();

    for (KindDetails details : KindDetails.values()) {
      for (JsonNode rules : schema(details).findValues("x-kubernetes-validations")) {
        assertThat(seen).containsAll(rules.findValuesAsText("message"));
      }
    }
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
    evaluate(schema(details), resource, messages);
    return messages;
  }

  private static JsonNode schema(KindDetails details) {
    return SCHEMAS.computeIfAbsent(details, one -> new CRDSource(one, true).schema());
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

  /** Servers leave rules aside where a field is missing or of another type. */
  static Stream<Sample> invalid() {
    return Sample.invalid().stream()
        .filter(sample -> sample.server().isEmpty() || sample.rule().isPresent());
  }
}
