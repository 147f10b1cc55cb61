package io.pmemcsi.operator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** What is in one object but not in another; the server may have added to the other. */
final class Containment {

  private static final ObjectMapper JSON = new ObjectMapper();

  private Containment() {}

  static List<String> missing(HasMetadata wanted, @Nullable HasMetadata actual) {
    var result = new ArrayList<String>();
    String name = wanted.getKind() + " " + wanted.getMetadata().getName();
    if (actual == null) {
      result.add(name);
    } else {
      compare(name, JSON.valueToTree(wanted), JSON.valueToTree(actual), result);
    }
    return result;
  }

  private static boolean isIn(JsonNode want, JsonNode have) {
    var differences = new ArrayList<String>();
    compare("", want, have, differences);
    return differences.isEmpty();
  }

  private static void compare(String path, JsonNode want, JsonNode have, List<String> result) {
    if (want.isObject()) {
      want.fieldNames()
          .forEachRemaining(
              name -> compare(path + "." + name, want.get(name), have.path(name), result));
    } else if (want.isArray() && want.size() == have.size() && !want.path(0).isObject()) {
      for (int i = 0; i < want.size(); i++) {
        compare(path + "[" + i + "]", want.get(i), have.get(i), result);
      }
    } else if (want.isArray() && want.size() == have.size()) {
      // server-side apply keeps the elements of such a list, not always their order
      for (JsonNode element : want) {
        if (StreamSupport.stream(have.spliterator(), false)
            .noneMatch(other -> isIn(element, other))) {
          result.add("%s: %s is missing in %s".formatted(path, element, have));
        }
      }
    } else if (!want.equals(have)) {
      result.add("%s: want %s, have %s".formatted(path, want, have));
    }
  }
}
