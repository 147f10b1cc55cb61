package io.pmemcsi.embedded.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonPatchTest {
  private static JsonNode json(String text) {
    return Json.parse(text.replace('\'', '"'));
  }

  private static ObjectNode object(String text) {
    return (ObjectNode) json(text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'a':1}         | {'b':2}             | {'a':1,'b':2}",
        "{'a':1,'b':2}   | {'a':null}          | {'b':2}",
        "{'a':{'b':1}}   | {'a':{'c':{'d':1}}} | {'a':{'b':1,'c':{'d':1}}}",
        "{'a':[1,2]}     | {'a':[3]}           | {'a':[3]}",
        "{'a':1}         | {'a':{'b':null}}    | {'a':{}}",
      })
  void mergePatchReplacesListsAndDeletesNulls(String value, String patch, String result) {
    assertThat(JsonPatch.merge(json(value), object(patch))).isEqualTo(json(result));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'a':1}     | [{'op':'add','path':'/b','value':2}]      | {'a':1,'b':2}",
        "{'a':[1,3]} | [{'op':'add','path':'/a/1','value':2}]    | {'a':[1,2,3]}",
        "{'a':[1]}   | [{'op':'add','path':'/a/-','value':2}]    | {'a':[1,2]}",
        "{'a':1}     | [{'op':'remove','path':'/a'}]             | {}",
        "{'a/b':1}   | [{'op':'replace','path':'/a~1b','value':2}] | {'a/b':2}",
        "{'a':1}     | [{'op':'move','from':'/a','path':'/b'}]   | {'b':1}",
        "{'a':[1]}   | [{'op':'copy','from':'/a/0','path':'/b'}] | {'a':[1],'b':1}",
      })
  void jsonPatchAppliesItsOperationsInOrder(String value, String patch, String result) {
    assertThat(JsonPatch.apply(object(value), json(patch))).isEqualTo(json(result));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[{'op':'test','path':'/a','value':2}]",
        "[{'op':'remove','path':'/b'}]",
        "[{'op':'add','path':'/a/b','value':2}]",
        "[{'op':'add','path':'/c/9','value':2}]",
        "[{'op':'shout','path':'/a'}]",
        "{'op':'remove','path':'/a'}",
      })
  void jsonPatchThatCannotBeAppliedIsRefused(String patch) {
    assertThatThrownBy(() -> JsonPatch.apply(object("{'a':1,'c':[]}"), json(patch)))
        .isInstanceOf(ApiException.class);
  }
}
