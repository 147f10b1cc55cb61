package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import java.util.List;

/** What the server sets itself when an object of a kind is created or changed. */
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
        BuiltIn.decode(object, type);
      }
    }
    if (type.generation()) {
      new Meta(object).generation(1);
    }
    switch (type.groupResource()) {
      case "namespaces" -> Json.child(object, "spec").putArray("finalizers").add("kubernetes");
      case "services" -> clusterIp(object);
      default -> {}
    }
  }

  private static void clusterIp(ObjectNode service) {
    ObjectNode spec = Json.child(service, "spec");
    if (!Json.text(spec, "type").equals("ExternalName") && !spec.has("clusterIP")) {
      int number = Math.floorMod(new Meta(service).uid().hashCode(), 250 * 250);
      spec.put("clusterIP", "10.96.%d.%d".formatted(number / 250, 1 + number % 250));
    }
    if (spec.has("clusterIP")) {
      spec.putArray("clusterIPs").add(spec.get("clusterIP"));
    }
  }

  /** Restores what the client may not change and counts the generation, in place. */
  void update(ObjectNode object, ObjectNode live, String subresource) {
    if (subresource.equals("status")) {
      statusOnly(object, live);
    } else if (type.status()) {
      keep(object, live, "status");
    }
    new Meta(object).copy(live, SERVER_OWNED);
    switch (type.groupResource()) {
      case "services" -> {
        if (!Json.at(object, "spec").has("clusterIP")) {
          keep(Json.child(object, "spec"), Json.child(live.deepCopy(), "spec"), "clusterIP");
        }
        clusterIp(object);
      }
      case "namespaces" -> keep(object, live, "spec");
      case "daemonsets.apps" -> templateGeneration(object, live);
      default -> {}
    }
    if (type.generation() && countedChange(object, live)) {
      new Meta(object).generation(new Meta(live).generation() + 1);
    }
  }

  private void statusOnly(ObjectNode object, ObjectNode live) {
    if (type.custom().isPresent()) {
      JsonNode managed = Json.at(object, "metadata", "managedFields");
      JsonNode status = object.path("status");
      object.removeAll();
      object.setAll(live.deepCopy());
      object.remove("status");
      if (!status.isMissingNode()) {
        object.set("status", status);
      }
      Json.child(object, "metadata").set("managedFields", managed);
    } else {
      keep(object, live, "spec");
      if (type.group().equals("apps")) {
        new Meta(object).copy(live, List.of("labels"));
      }
    }
  }

  private static void templateGeneration(ObjectNode object, ObjectNode live) {
    JsonNode before = Json.at(live, "metadata", "annotations", BuiltIn.TEMPLATE_GENERATION);
    boolean changed =
        !Json.same(Json.at(object, "spec", "template"), Json.at(live, "spec", "template"));
    Json.child(Json.child(object, "metadata"), "annotations")
        .put(BuiltIn.TEMPLATE_GENERATION, Long.toString(before.asLong() + (changed ? 1 : 0)));
  }

  private static void keep(ObjectNode object, ObjectNode live, String field) {
    JsonNode value = live.get(field);
    if (value == null) {
      object.remove(field);
    } else {
      object.set(field, value.deepCopy());
    }
  }

  private boolean countedChange(ObjectNode object, ObjectNode live) {
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
