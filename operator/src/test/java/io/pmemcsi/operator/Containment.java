package io.pmemcsi.operator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Finds fields of one object that another lacks; the other one may have additional fields. */
final class Containment {

  private static final ObjectMapper JSON = new ObjectMapper();

  private Containment() {}

  static List<String> missing(HasMetadata expected, @Nullable HasMetadata actual) {
    var result = new ArrayList<String>();
    String name = expected.getKind() + " " + expected.getMetadata().getName();
    if (actual == null) {
      result.add(name);
    } else {
      compare(name, JSON.valueToTree(expected), JSON.valueToTree(actual), result);
    }
    return result;
  }

  private static boolean isIn(JsonNode expectedJson, JsonNode actualJson) {
    var differences = new ArrayList<String>();
    compare("", expectedJson, actualJson, differences);
    return differences.isEmpty();
  }

  private static void compare(
      String path, JsonNode expectedJson, JsonNode actualJson, List<String> result) {
    if (expectedJson.isObject()) {
      expectedJson
          .fieldNames()
          .forEachRemaining(
              name ->
                  compare(
                      path + "." + name, expectedJson.get(name), actualJson.path(name), result));
    } else if (expectedJson.isArray()
        && expectedJson.size() == actualJson.size()
        && !expectedJson.path(0).isObject()) {
      for (int i = 0; i < expectedJson.size(); i++) {
        compare(path + "[" + i + "]", expectedJson.get(i), actualJson.get(i), result);
      }
    } else if (expectedJson.isArray() && expectedJson.size() == actualJson.size()) {
      // server-side apply keeps the elements of such a list, not always their order
      for (JsonNode element : expectedJson) {
        if (StreamSupport.stream(actualJson.spliterator(), false)
            .noneMatch(other -> isIn(element, other))) {
          result.add("%s: %s is missing in %s".formatted(path, element, actualJson));
        }
      }
    } else if (!expectedJson.equals(actualJson)) {
      result.add("%s: expected %s, actual %s".formatted(path, expectedJson, actualJson));
    }
  }
}
