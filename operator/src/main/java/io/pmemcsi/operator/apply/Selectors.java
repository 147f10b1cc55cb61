package io.pmemcsi.operator.apply;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Selectors are wanted as a whole: one more label, whoever added it, and a service finds no pod or
 * a driver no node. Servers before 1.21 keep book of each label by itself, so that applying ours
 * leaves those of others in place.
 */
final class Selectors {

  private static final Set<String> NAMES =
      Set.of("nodeSelector", "selector", "matchLabels", "objectSelector", "namespaceSelector");

  private Selectors() {}

  static boolean is(Object name) {
    return NAMES.contains(name);
  }

  /**
   * What others added to selectors of ours, as pointers into the object.
   *
   * @param wanted an object as nested maps and lists
   * @param actual the same object on the server
   */
  static List<String> surplus(Map<?, ?> wanted, Map<?, ?> actual) {
    var result = new ArrayList<String>();
    search("", wanted, actual, result);
    return result;
  }

  private static void search(
      String at, @Nullable Object wanted, @Nullable Object actual, List<String> result) {
    if (wanted instanceof Map<?, ?> want && actual instanceof Map<?, ?> have) {
      for (Map.Entry<?, ?> part : have.entrySet()) {
        String below = at + "/" + escaped(part.getKey());
        if (is(part.getKey())) {
          whole(below, want.get(part.getKey()), part.getValue(), result);
        } else if (want.containsKey(part.getKey())) {
          search(below, want.get(part.getKey()), part.getValue(), result);
        }
      }
    } else if (wanted instanceof List<?> want && actual instanceof List<?> have) {
      for (int i = 0; i < have.size(); i++) {
        if (have.get(i) instanceof Map<?, ?> element && element.get("name") != null) {
          Object name = element.get("name");
          String below = at + "/" + i;
          want.stream()
              .filter(other -> other instanceof Map<?, ?> map && name.equals(map.get("name")))
              .findFirst()
              .ifPresent(other -> search(below, other, element, result));
        }
      }
    }
  }

  private static void whole(
      String at, @Nullable Object wanted, @Nullable Object actual, List<String> result) {
    if (!(actual instanceof Map<?, ?> have)) {
      return;
    }
    Map<?, ?> want = wanted instanceof Map<?, ?> map ? map : Map.of();
    have.forEach(
        (key, value) -> {
          String below = at + "/" + escaped(key);
          if (!want.containsKey(key)) {
            result.add(below);
          } else {
            whole(below, want.get(key), value, result);
          }
        });
  }

  /** As RFC 6901 wants it. */
  static String escaped(Object key) {
    return String.valueOf(key).replace("~", "~0").replace("/", "~1");
  }
}
