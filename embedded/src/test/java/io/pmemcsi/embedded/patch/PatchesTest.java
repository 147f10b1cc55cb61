package io.pmemcsi.embedded.patch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.TypeTable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PatchesTest {
  private static JsonNode json(String text) {
    return Json.parse(text.replace('\'', '"'));
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
  void aMergePatchReplacesListsAndDeletesNulls(String value, String patch, String result) {
    assertThat(MergePatch.apply(json(value), json(patch))).isEqualTo(json(result));
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
      })
  void aJsonPatchDoesItsOperationsInOrder(String value, String patch, String result) {
    assertThat(JsonPatch.apply(json(value), json(patch))).isEqualTo(json(result));
  }

  @Test
  void aJsonPatchWhoseTestFailsIsRefused() {
    assertThatThrownBy(
            () -> JsonPatch.apply(json("{'a':1}"), json("[{'op':'test','path':'/a','value':2}]")))
        .isInstanceOf(InvalidPatchException.class);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "[{'name':'a','image':'1'},{'name':'b'}] | [{'name':'a','image':'2'}]        |"
            + " [{'name':'a','image':'2'},{'name':'b'}]",
        "[{'name':'a'},{'name':'b'}]             | [{'name':'b','$patch':'delete'}]  |"
            + " [{'name':'a'}]",
        "[{'name':'a'}]                          | [{'name':'b'},{'$patch':'replace'}] |"
            + " [{'name':'b'}]",
      })
  void aStrategicMergePatchMergesContainersByName(String value, String patch, String result) {
    JsonNode pod = json("{'spec':{'containers':" + value + "}}");
    JsonNode change = json("{'spec':{'containers':" + patch + "}}");

    assertThat(
            StrategicMergePatch.apply(
                pod.deepCopy(), change.deepCopy(), TypeTable.read(false).type("Pod")))
        .isEqualTo(json("{'spec':{'containers':" + result + "}}"));
  }
}
