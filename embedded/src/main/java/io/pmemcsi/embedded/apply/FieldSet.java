package io.pmemcsi.embedded.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** A set of paths as a tree. Only {@link #insert} changes a set. */
final class FieldSet {
  private final TreeSet<PathElement> members = new TreeSet<>();
  private final TreeMap<PathElement, FieldSet> children = new TreeMap<>();

  /** Adds a path; the empty path is the root and is not kept. */
  void insert(List<PathElement> path) {
    if (path.isEmpty()) {
      return;
    }
    FieldSet set = this;
    for (PathElement element : path.subList(0, path.size() - 1)) {
      set = set.children.computeIfAbsent(element, _ -> new FieldSet());
    }
    set.members.add(path.getLast());
  }

  boolean isEmpty() {
    return members.isEmpty() && children.values().stream().allMatch(FieldSet::isEmpty);
  }

  boolean has(PathElement element) {
    return members.contains(element);
  }

  /** The part of the set below an element. */
  FieldSet below(PathElement element) {
    return children.getOrDefault(element, new FieldSet());
  }

  FieldSet union(FieldSet other) {
    FieldSet result = new FieldSet();
    result.members.addAll(members);
    result.members.addAll(other.members);
    result.children.putAll(children);
    other.children.forEach((element, set) -> result.children.merge(element, set, FieldSet::union));
    return result;
  }

  FieldSet difference(FieldSet other) {
    FieldSet result = new FieldSet();
    result.members.addAll(members);
    result.members.removeAll(other.members);
    children.forEach((element, set) -> result.keep(element, set.difference(other.below(element))));
    return result;
  }

  FieldSet intersection(FieldSet other) {
    FieldSet result = new FieldSet();
    result.members.addAll(members);
    result.members.retainAll(other.members);
    children.forEach((e, set) -> result.keep(e, set.intersection(other.below(e))));
    return result;
  }

  private void keep(PathElement element, FieldSet set) {
    if (!set.isEmpty()) {
      children.put(element, set);
    }
  }

  /**
   * Extends the ownership of an object or list, taken when it was empty, to its current fields.
   *
   * @param value the fields of the stored object
   */
  FieldSet widened(FieldSet value) {
    FieldSet result = new FieldSet();
    result.members.addAll(members);
    members.forEach(member -> result.keep(member, value.below(member)));
    children.forEach((element, set) -> result.keep(element, set.widened(value.below(element))));
    return result;
  }

  /** All paths in the order in which the server lists them. */
  List<List<PathElement>> paths() {
    List<List<PathElement>> paths = new ArrayList<>();
    collect(new ArrayList<>(), paths);
    return paths;
  }

  private void collect(List<PathElement> prefix, List<List<PathElement>> paths) {
    for (PathElement member : members) {
      List<PathElement> path = new ArrayList<>(prefix);
      path.add(member);
      paths.add(path);
    }
    children.forEach(
        (element, set) -> {
          prefix.add(element);
          set.collect(prefix, paths);
          prefix.removeLast();
        });
  }

  /** The form in managedFields. */
  ObjectNode encode() {
    ObjectNode object = Json.object();
    TreeSet<PathElement> all = new TreeSet<>(members);
    all.addAll(children.keySet());
    for (PathElement element : all) {
      FieldSet set = below(element);
      ObjectNode encoded = Json.object();
      if (members.contains(element) && !set.isEmpty()) {
        encoded.putObject(".");
      }
      encoded.setAll(set.encode());
      if (members.contains(element) || !set.isEmpty()) {
        object.set(element.encoded(), encoded);
      }
    }
    return object;
  }

  /** Decodes the form in managedFields. */
  static FieldSet decode(JsonNode object) {
    FieldSet set = new FieldSet();
    for (Map.Entry<String, JsonNode> entry : object.properties()) {
      if (entry.getKey().equals(".")) {
        continue;
      }
      PathElement element = new PathElement(entry.getKey());
      JsonNode below = entry.getValue();
      if (below.isEmpty() || below.has(".")) {
        set.members.add(element);
      }
      if (!below.isEmpty()) {
        set.keep(element, decode(below));
      }
    }
    return set;
  }
}
