package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.store.Key;
import java.util.ArrayList;
import java.util.List;

/** The metadata of an object. */
record Meta(ObjectNode object) {
  static final String FOREGROUND = "foregroundDeletion";

  private ObjectNode metadata() {
    return Json.child(object, "metadata");
  }

  String get(String field) {
    return Json.text(object, "metadata", field);
  }

  void set(String field, String value) {
    if (value.isEmpty()) {
      metadata().remove(field);
    } else {
      metadata().put(field, value);
    }
  }

  /** Copies fields from another object, and removes those that it does not have. */
  void copy(ObjectNode from, List<String> fields) {
    for (String field : fields) {
      JsonNode value = Json.at(from, "metadata", field);
      if (value.isMissingNode()) {
        metadata().remove(field);
      } else {
        metadata().set(field, value.deepCopy());
      }
    }
  }

  String name() {
    return get("name");
  }

  String namespace() {
    return get("namespace");
  }

  String uid() {
    return get("uid");
  }

  boolean deleting() {
    return !get("deletionTimestamp").isEmpty();
  }

  long generation() {
    return Json.at(object, "metadata", "generation").asLong();
  }

  void generation(long value) {
    metadata().put("generation", value);
  }

  List<String> finalizers() {
    List<String> names = new ArrayList<>();
    Json.at(object, "metadata", "finalizers").forEach(name -> names.add(name.asText()));
    return names;
  }

  void finalizers(List<String> names) {
    if (names.isEmpty()) {
      metadata().remove("finalizers");
    } else {
      names.forEach(metadata().putArray("finalizers")::add);
    }
  }

  /** Whether the object is being deleted and waits for its dependents. */
  boolean foregroundDeletion() {
    return deleting() && finalizers().contains(FOREGROUND);
  }

  List<JsonNode> owners() {
    List<JsonNode> owners = new ArrayList<>();
    Json.at(object, "metadata", "ownerReferences").forEach(owners::add);
    return owners;
  }

  void owners(List<JsonNode> owners) {
    if (owners.isEmpty()) {
      metadata().remove("ownerReferences");
    } else {
      ArrayNode array = metadata().putArray("ownerReferences");
      owners.forEach(array::add);
    }
  }

  Key key(ResourceType type) {
    return new Key(type.group(), type.plural(), namespace(), name());
  }
}
