package io.pmemcsi.embedded.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Type;
import io.pmemcsi.embedded.schema.Type.ListOf;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Merges one value over another and collects the differences. */
final class Merging {
  private final FieldSet added = new FieldSet();
  private final FieldSet modified = new FieldSet();
  private final FieldSet removed = new FieldSet();
  private final List<PathElement> path = new ArrayList<>();
  private JsonNode merged = MissingNode.getInstance();

  private Merging() {}

  /**
   * The result of merging two values.
   *
   * @param merged the left value overlaid with the right one
   */
  record Result(JsonNode merged, FieldSet added, FieldSet modified, FieldSet removed) {
    boolean same() {
      return added.isEmpty() && modified.isEmpty() && removed.isEmpty();
    }
  }

  static Result of(JsonNode left, JsonNode right, Type type) {
    Merging merging = new Merging();
    merging.merged = merging.merge(left, right, type);
    return new Result(merging.merged, merging.added, merging.modified, merging.removed);
  }

  private JsonNode merge(JsonNode left, JsonNode right, Type declared) {
    JsonNode seen = right.isMissingNode() ? left : right;
    Type type = declared.seenAs(seen);
    boolean leaf = isLeaf(left, right, type);
    JsonNode result = leaf ? leaf(left, right) : MissingNode.getInstance();
    if (!leaf) {
      result = type instanceof ListOf list ? items(left, right, list) : fields(left, right, type);
      if (left.isMissingNode()) {
        added.insert(path);
      } else if (right.isMissingNode()) {
        removed.insert(path);
      }
    }
    return result;
  }

  private static boolean isLeaf(JsonNode left, JsonNode right, Type type) {
    boolean differentForm =
        !Json.absent(left) && !Json.absent(right) && left.getNodeType() != right.getNodeType();
    boolean nothing = left.isEmpty() && right.isEmpty();
    return differentForm || nothing || type.atomic();
  }

  private JsonNode leaf(JsonNode left, JsonNode right) {
    if (left.isMissingNode()) {
      added.insert(path);
    } else if (right.isMissingNode()) {
      removed.insert(path);
    } else if (!Json.same(left, right)) {
      modified.insert(path);
    }
    return right.isMissingNode() ? left : right;
  }

  private JsonNode fields(JsonNode left, JsonNode right, Type type) {
    ObjectNode out = Json.object();
    Set<String> names = new LinkedHashSet<>();
    left.fieldNames().forEachRemaining(names::add);
    right.fieldNames().forEachRemaining(names::add);
    for (String name : names) {
      path.add(PathElement.field(name));
      out.set(name, merge(left.path(name), right.path(name), type.field(name)));
      path.removeLast();
    }
    return out;
  }

  private JsonNode items(JsonNode left, JsonNode right, ListOf list) {
    Map<PathElement, JsonNode> before = byElement(left, list);
    Map<PathElement, JsonNode> after = byElement(right, list);
    Set<PathElement> order = new LinkedHashSet<>(before.keySet());
    order.addAll(after.keySet());
    ArrayNode out = Json.array();
    for (PathElement element : order) {
      path.add(element);
      JsonNode missing = MissingNode.getInstance();
      out.add(
          merge(
              before.getOrDefault(element, missing),
              after.getOrDefault(element, missing),
              list.element()));
      path.removeLast();
    }
    return out.isEmpty() ? NullNode.getInstance() : out;
  }

  private static Map<PathElement, JsonNode> byElement(JsonNode value, ListOf list) {
    Map<PathElement, JsonNode> items = new LinkedHashMap<>();
    int index = 0;
    for (JsonNode item : value) {
      items.put(PathElement.item(list, item, index++), item);
    }
    return items;
  }
}
