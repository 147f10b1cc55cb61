package io.pmemcsi.embedded.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Type.ListKind;
import io.pmemcsi.embedded.schema.Type.ListOf;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * One element of a path to a field.
 *
 * @param encoded the form in managedFields: f:NAME for a field, k:KEYS for an item of a list that
 *     is merged by keys, v:VALUE for an item of a set, i:INDEX for an item that has only a position
 */
record PathElement(String encoded) implements Comparable<PathElement> {
  private static final String ORDER = "fkvi";

  static PathElement field(String name) {
    return new PathElement("f:" + name);
  }

  /** The element of an item of a merged list. */
  static PathElement item(ListOf list, JsonNode item, int index) {
    if (list.kind() == ListKind.SET) {
      return new PathElement("v:" + item);
    }
    ObjectNode keys = Json.object();
    for (String key : new TreeSet<>(list.keys())) {
      if (item.has(key)) {
        keys.set(key, item.get(key));
      }
    }
    return new PathElement(keys.isEmpty() ? "i:" + index : "k:" + keys);
  }

  /** The form in messages. */
  String shown() {
    String value = encoded.substring(2);
    return switch (encoded.charAt(0)) {
      case 'f' -> "." + value;
      case 'k' ->
          Json.parse(value).properties().stream()
              .map(key -> key.getKey() + "=" + key.getValue())
              .collect(Collectors.joining(",", "[", "]"));
      case 'v' -> "[=" + value + "]";
      default -> "[" + value + "]";
    };
  }

  @Override
  public int compareTo(PathElement other) {
    int byKind =
        Integer.compare(ORDER.indexOf(encoded.charAt(0)), ORDER.indexOf(other.encoded.charAt(0)));
    return byKind != 0 ? byKind : encoded.compareTo(other.encoded);
  }
}
