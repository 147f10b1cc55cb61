package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.store.Key;
import io.pmemcsi.embedded.store.Transaction;
import java.util.List;
import java.util.Map;

/** Deletes an object, or sets its deletion timestamp while it has finalizers. */
record Deletion(Transaction transaction, Stamps stamps) {

  ApiResponse delete(ApiRequest request) {
    ResourceType type = request.type();
    ObjectNode live =
        transaction
            .get(request.key())
            .orElseThrow(() -> ApiException.notFound(type, request.name()));
    delete(request.key(), checkOptions(request, new Meta(live)).equals("Foreground"));
    if (type.is(Catalog.CRD_GROUP, Catalog.CRDS)) {
      deleteInstances(live.path("spec"));
    }
    return new ApiResponse(
        200, transaction.get(request.key()).orElseGet(() -> success(type, new Meta(live))));
  }

  /** Returns the propagation policy. */
  private static String checkOptions(ApiRequest request, Meta live) {
    JsonNode options = request.body().orElseGet(Json::object);
    String policy =
        request.parameter("propagationPolicy") + Json.text(options, "propagationPolicy");
    if (!List.of("", "Background", "Foreground").contains(policy)) {
      throw ApiException.unsupported("the propagation policy " + policy);
    }
    if (request.type().is("", "namespaces")) {
      throw ApiException.unsupported("deletion of namespaces");
    }
    for (Map.Entry<String, JsonNode> entry : options.path("preconditions").properties()) {
      if (!live.get(entry.getKey()).equals(entry.getValue().asText())) {
        throw ApiException.conflict(
            request.type(), live.name(), "precondition %s is not met".formatted(entry));
      }
    }
    return policy;
  }

  void delete(Key key, boolean foreground) {
    ObjectNode object = transaction.get(key).orElseThrow().deepCopy();
    Meta meta = new Meta(object);
    List<String> finalizers = meta.finalizers();
    if (foreground && !finalizers.contains(Meta.FOREGROUND)) {
      finalizers.add(Meta.FOREGROUND);
      meta.finalizers(finalizers);
    }
    if (finalizers.isEmpty()) {
      transaction.delete(key);
      return;
    }
    if (!meta.deleting()) {
      meta.set("deletionTimestamp", stamps.now());
      Json.child(object, "metadata").put("deletionGracePeriodSeconds", 0);
      if (meta.generation() > 0) {
        meta.generation(meta.generation() + 1);
      }
    }
    transaction.put(key, object);
  }

  /** Deletes the objects of a custom kind together with its definition. */
  private void deleteInstances(JsonNode definition) {
    String group = Json.text(definition, "group");
    String plural = Json.text(definition, "names", "plural");
    for (ObjectNode object : transaction.objects().list(group, plural, "")) {
      Meta meta = new Meta(object);
      transaction.delete(new Key(group, plural, meta.namespace(), meta.name()));
    }
  }

  private static ObjectNode success(ResourceType type, Meta live) {
    ObjectNode status = Json.object().put("kind", "Status").put("apiVersion", "v1");
    status.putObject("metadata");
    status.put("status", "Success");
    ObjectNode details = status.putObject("details").put("name", live.name());
    if (!type.group().isEmpty()) {
      details.put("group", type.group());
    }
    details.put("kind", type.plural()).put("uid", live.uid());
    return status;
  }
}
