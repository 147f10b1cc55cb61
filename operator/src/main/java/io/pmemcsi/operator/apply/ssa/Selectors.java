package io.pmemcsi.operator.apply.ssa;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Selectors are desired as a whole: with one more label a service selects no pod, or a driver no
 * node. Servers before 1.21 track each label of a selector separately, so server-side apply keeps
 * labels that another field manager added.
 */
final class Selectors {

  private static final Set<String> NAMES =
      Set.of("nodeSelector", "selector", "matchLabels", "objectSelector", "namespaceSelector");

  private Selectors() {}

  static boolean isSelector(Object name) {
    return NAMES.contains(name);
  }

  /**
   * JSON pointers to the labels that other field managers added to our selectors.
   *
   * @param desired an object as nested maps and lists
   * @param actual the same object on the server
   */
  static List<String> foreign(Map<?, ?> desired, Map<?, ?> actual) {
    var result = new ArrayList<String>();
    search("", desired, actual, result);
    return result;
  }

  private static void search(
      String path,
      @Nullable Object desiredValue,
      @Nullable Object actualValue,
      List<String> result) {
    if (desiredValue instanceof Map<?, ?> desired && actualValue instanceof Map<?, ?> actual) {
      for (Map.Entry<?, ?> field : actual.entrySet()) {
        String below = path + "/" + escaped(field.getKey());
        if (isSelector(field.getKey())) {
          compare(below, desired.get(field.getKey()), field.getValue(), result);
        } else if (desired.containsKey(field.getKey())) {
          search(below, desired.get(field.getKey()), field.getValue(), result);
        }
      }
    } else if (desiredValue instanceof List<?> desired && actualValue instanceof List<?> actual) {
      for (int i = 0; i < actual.size(); i++) {
        if (actual.get(i) instanceof Map<?, ?> element && element.get("name") != null) {
          Object name = element.get("name");
          String below = path + "/" + i;
          desired.stream()
              .filter(other -> other instanceof Map<?, ?> map && name.equals(map.get("name")))
              .findFirst()
              .ifPresent(other -> search(below, other, element, result));
        }
      }
    }
  }

  private static void compare(
      String path,
      @Nullable Object desiredValue,
      @Nullable Object actualValue,
      List<String> result) {
    if (!(actualValue instanceof Map<?, ?> actual)) {
      return;
    }
    Map<?, ?> desired = desiredValue instanceof Map<?, ?> map ? map : Map.of();
    actual.forEach(
        (key, value) -> {
          String below = path + "/" + escaped(key);
          if (!desired.containsKey(key)) {
            result.add(below);
          } else {
            compare(below, desired.get(key), value, result);
          }
        });
  }

  /** As in RFC 6901. */
  static String escaped(Object key) {
    return String.valueOf(key).replace("~", "~0").replace("/", "~1");
  }
}
