package io.pmemcsi.embedded.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Type.ListKind;
import io.pmemcsi.embedded.schema.Type.ListOf;
import java.util.Map;
import java.util.TreeMap;

/** One step on the way to a field. */
sealed interface PathElement extends Comparable<PathElement> {
  /** A field of an object. */
  record FieldName(String name) implements PathElement {
    @Override
    public String encoded() {
      return "f:" + name;
    }

    @Override
    public String shown() {
      return "." + name;
    }
  }

  /**
   * An item of a list that is merged by keys; the map is sorted by field name. The form in
   * managedFields is kept: elements are sorted by it again and again.
   */
  record Key(TreeMap<String, JsonNode> fields, String encoded) implements PathElement {
    Key(TreeMap<String, JsonNode> fields) {
      this(fields, encode(fields));
    }

    private static String encode(TreeMap<String, JsonNode> fields) {
      ObjectNode object = Json.object();
      fields.forEach(object::set);
      return "k:" + object;
    }

    @Override
    public String shown() {
      StringBuilder text = new StringBuilder("[");
      for (Map.Entry<String, JsonNode> field : fields.entrySet()) {
        text.append(text.length() > 1 ? "," : "").append(field.getKey()).append('=');
        text.append(field.getValue());
      }
      return text.append(']').toString();
    }
  }

  /** An item of a set. */
  record Value(JsonNode value) implements PathElement {
    @Override
    public String encoded() {
      return "v:" + value;
    }

    @Override
    public String shown() {
      return "[=" + value + "]";
    }
  }

  /** An item known by its place only. */
  record Index(int index) implements PathElement {
    @Override
    public String encoded() {
      return "i:" + index;
    }

    @Override
    public String shown() {
      return "[" + index + "]";
    }
  }

  /** The form in managedFields. */
  String encoded();

  /** The form in messages. */
  String shown();

  /** Reads the form in managedFields. */
  static PathElement decode(String text) {
    String rest = text.substring(2);
    return switch (text.substring(0, 2)) {
      case "f:" -> new FieldName(rest);
      case "k:" -> {
        TreeMap<String, JsonNode> fields = new TreeMap<>();
        Json.parse(rest).properties().forEach(e -> fields.put(e.getKey(), e.getValue()));
        yield new Key(fields);
      }
      case "v:" -> new Value(Json.parse(rest));
      case "i:" -> new Index(Integer.parseInt(rest));
      default -> throw new IllegalArgumentException("not a path element: " + text);
    };
  }

  /** How an item of a merged list is addressed. */
  static PathElement ofItem(ListOf list, JsonNode item, int index) {
    if (list.kind() == ListKind.SET) {
      return new Value(item);
    }
    TreeMap<String, JsonNode> fields = new TreeMap<>();
    for (String key : list.keys()) {
      JsonNode value = item.path(key);
      if (!value.isMissingNode()) {
        fields.put(key, value);
      }
    }
    return fields.isEmpty() ? new Index(index) : new Key(fields);
  }

  private int rank() {
    return switch (this) {
      case FieldName _ -> 0;
      case Key _ -> 1;
      case Value _ -> 2;
      case Index _ -> 3;
    };
  }

  @Override
  default int compareTo(PathElement other) {
    if (this instanceof FieldName(String name) && other instanceof FieldName(String otherName)) {
      return name.compareTo(otherName);
    }
    int byRank = Integer.compare(rank(), other.rank());
    return byRank != 0 ? byRank : encoded().compareTo(other.encoded());
  }
}
