package io.pmemcsi.driver.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {

  @Test
  void numbersBeyondWhatADoubleCanHoldSurvive() throws IOException {
    Json json = Json.parse("{\"iset\": 9223372036854775807, \"more\": 9223372036854775808}");

    assertThat(json.path("iset").number()).hasValue(Long.MAX_VALUE);
    assertThat(json.path("more").number()).isEmpty();
    assertThat(json.path("more").asText()).isEqualTo("9223372036854775808");
  }

  @Test
  void missingFieldsAreEmpty() throws IOException {
    Json json = Json.parse("{\"text\": \"a\", \"list\": [1, true, null]}");

    assertThat(json.path("missing").path("deeper").asText()).isEmpty();
    assertThat(json.path("text").path("deeper").elements()).isEmpty();
    assertThat(json.path("text").number()).isEmpty();
    assertThat(json.path("list").elements())
        .extracting(Json::asText)
        .containsExactly("1", "true", "null");
    assertThat(Json.parse("").elements()).isEmpty();
  }

  @Test
  void aSingleValueIsAListOfOne() throws IOException {
    assertThat(Json.parse("{\"dev\": \"region0\"}").elements()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"{", "{\"a\": 1} {", "{\"a\": 1, \"a\": 2}", "[1", "nonsense", "{\"a\":}"})
  void textThatIsNotOneValueIsRefused(String text) {
    assertThatThrownBy(() -> Json.parse(text)).isInstanceOf(IOException.class);
  }

  /** Written out it would be larger than the memory of the driver. */
  @Test
  void aHugeExponentIsNotExpanded() throws IOException {
    Json json = Json.parse("1e999999999");

    assertThat(json.number()).isEmpty();
    assertThat(json.asText()).isEqualTo("1E+999999999");
  }

  @Test
  void tooDeeplyNestedTextIsRefused() {
    assertThatThrownBy(() -> Json.parse("[".repeat(900) + "]".repeat(900)))
        .isInstanceOf(IOException.class);
  }

  @Test
  void aLineKeepsTheOrderOfItsKeys() {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("id", "a\"b");
    values.put("size", 1L << 60);
    values.put("parameters", Map.of("name", "ü"));

    assertThat(Json.line(values))
        .isEqualTo(
            "{\"id\":\"a\\\"b\",\"size\":1152921504606846976,\"parameters\":{\"name\":\"ü\"}}\n");
  }
}
