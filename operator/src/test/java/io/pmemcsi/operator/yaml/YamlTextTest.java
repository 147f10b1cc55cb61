package io.pmemcsi.operator.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class YamlTextTest {

  @Test
  void documentsAreCountedWithTheEmptyOnes() {
    var documents =
        YamlText.documents("---\n# nothing\n---\na: 1\n---\n{\"b\": [true, null]}\n---\n");

    assertThat(documents).extracting(YamlText.Document::number).containsExactly(2, 3);
    assertThat(documents)
        .extracting(found -> found.content().toString())
        .containsExactly("{\"a\":1}", "{\"b\":[true,null]}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "# nothing\n", "---\n---\n"})
  void emptyTextHasNoDocument(String text) {
    assertThat(YamlText.documents(text)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a: [ | line 1 is no YAML: ",
        "{a: 1, a: 2} | line 1 is no YAML: found duplicate key a",
        "a: !!foo b | line 1 is no YAML: could not determine a constructor for the tag",
        "{? [a] : b} | document 1 is no YAML: Non scalar key",
        "a: !!int foo | document 1 has a value that does not fit its tag: correct the value, or",
        "a: !!float foo | document 1 has a value that does not fit its tag: ",
        "a: !!binary \"%\" | document 1 has a value that does not fit its tag: ",
        "{a: &a {b: *a}} | document 1 cannot be read: it is nested too deeply, refers to itself",
        "{? : a} | document 1 cannot be read: it has what JSON cannot hold",
      })
  void parseErrorIsReported(String text, String message) {
    assertThatThrownBy(() -> YamlText.documents(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message)
        .hasMessageNotContainingAny("Exception", "java.");
  }

  @Test
  void parseErrorNamesTheDocument() {
    assertThatThrownBy(() -> YamlText.documents("a: 1\n---\na: !!int foo\n"))
        .hasMessageStartingWith("document 2 has a value that does not fit its tag: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[", "{a: ", "- "})
  void tooDeepNestingIsAParseError(String level) {
    assertThatThrownBy(() -> YamlText.documents(level.repeat(50_000)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("nested too deeply");
  }

  /** The parser would stop at three million characters, and files may have 16 MiB. */
  @Test
  void longTextIsRead() {
    String line = "- %s\n".formatted("a".repeat(1000));

    assertThat(YamlText.documents(line.repeat(3200))).hasSize(1);
  }
}
