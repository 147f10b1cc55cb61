package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import java.util.List;

/** The fields that the server sets when an object is created or updated. */
record Strategy(ResourceType type) {
  private static final List<String> SERVER_OWNED =
      List.of(
          "name",
          "namespace",
          "uid",
          "creationTimestamp",
          "deletionTimestamp",
          "deletionGracePeriodSeconds",
          "generation",
          "selfLink");

  /** Prepares a new object, in place. */
  void create(ObjectNode object) {
    if (type.status() && !type.is("", "nodes")) {
      object.remove("status");
      if (type.custom().isEmpty()) {
        Defaults.decode(object, type);
      }
    }
    if (type.generation()) {
      new Meta(object).generation(1);
    }
    if (type.is("", "services")) {
      clusterIp(object);
    }
  }

  private static void clusterIp(ObjectNode service) {
    ObjectNode spec = Json.child(service, "spec");
    if (!spec.has("clusterIP")) {
      int number = Math.floorMod(new Meta(service).uid().hashCode(), 250 * 250);
      spec.put("clusterIP", "10.96.%d.%d".formatted(number / 250, 1 + number % 250));
    }
    spec.putArray("clusterIPs").add(spec.get("clusterIP"));
  }

  /** Restores the fields that the client cannot change and counts the generation, in place. */
  void update(ObjectNode object, ObjectNode live, String subresource) {
    if (subresource.equals("status")) {
      statusOnly(object, live);
    } else if (type.status()) {
      keep(object, live, "status");
    }
    new Meta(object).copy(live, SERVER_OWNED);
    if (type.is("", "services")) {
      keep(Json.child(object, "spec"), (ObjectNode) live.get("spec"), "clusterIP");
      clusterIp(object);
    } else if (type.is("apps", "daemonsets")) {
      templateGeneration(object, live);
    }
    if (type.generation() && changed(object, live)) {
      new Meta(object).generation(new Meta(live).generation() + 1);
    }
  }

  private void statusOnly(ObjectNode object, ObjectNode live) {
    if (type.custom().isEmpty()) {
      keep(object, live, "spec");
      if (type.group().equals("apps")) {
        new Meta(object).copy(live, List.of("labels"));
      }
      return;
    }
    JsonNode managed = Json.at(object, "metadata", "managedFields");
    JsonNode status = object.path("status");
    object.removeAll();
    object.setAll(live.deepCopy());
    object.remove("status");
    if (!status.isMissingNode()) {
      object.set("status", status);
    }
    Json.child(object, "metadata").set("managedFields", managed);
  }

  private static void templateGeneration(ObjectNode object, ObjectNode live) {
    JsonNode before = Json.at(live, "metadata", "annotations", Defaults.TEMPLATE_GENERATION);
    boolean changed =
        !Json.same(Json.at(object, "spec", "template"), Json.at(live, "spec", "template"));
    Json.child(Json.child(object, "metadata"), "annotations")
        .put(Defaults.TEMPLATE_GENERATION, Long.toString(before.asLong() + (changed ? 1 : 0)));
  }

  private static void keep(ObjectNode object, ObjectNode live, String field) {
    JsonNode value = live.get(field);
    if (value == null) {
      object.remove(field);
    } else {
      object.set(field, value.deepCopy());
    }
  }

  private boolean changed(ObjectNode object, ObjectNode live) {
    if (type.is("apps", "deployments") && !Json.same(annotations(object), annotations(live))) {
      return true;
    }
    String[] ignored =
        type.status() ? new String[] {"metadata", "status"} : new String[] {"metadata"};
    return !Json.same(Json.without(object, ignored), Json.without(live, ignored));
  }

  private static JsonNode annotations(ObjectNode object) {
    return Json.at(object, "metadata", "annotations");
  }
}
