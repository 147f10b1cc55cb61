package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.patch.MergePatch;
import io.pmemcsi.embedded.schema.ResourceType;
import java.util.Optional;

/** The scale subresource: the number of replicas, whatever the kind. */
final class Scale {
  private Scale() {}

  static ObjectNode of(ResourceType type, ObjectNode object) {
    ObjectNode scale = Json.object().put("kind", "Scale").put("apiVersion", "autoscaling/v1");
    ObjectNode metadata = scale.putObject("metadata");
    for (String field :
        new String[] {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
      if (Json.at(object, "metadata").has(field)) {
        metadata.set(field, Json.at(object, "metadata", field));
      }
    }
    scale.putObject("spec").put("replicas", Json.at(object, "spec", "replicas").asInt());
    ObjectNode status = scale.putObject("status");
    status.put("replicas", Json.at(object, "status", "replicas").asInt());
    StringBuilder selector = new StringBuilder();
    Json.at(object, "spec", "selector", "matchLabels")
        .properties()
        .forEach(
            label ->
                selector
                    .append(selector.isEmpty() ? "" : ",")
                    .append(label.getKey() + "=" + label.getValue().asText()));
    if (!selector.isEmpty()) {
      status.put("selector", selector.toString());
    }
    return scale;
  }

  static ApiAnswer update(ApiRequest request, ObjectNode live, Writing writing) {
    ObjectNode changed = live.deepCopy();
    JsonNode scale = request.body().orElseGet(Json::object);
    Json.child(changed, "spec").set("replicas", Json.at(scale, "spec", "replicas"));
    String version = Json.text(scale, "metadata", "resourceVersion");
    if (!version.isEmpty()) {
      new Meta(changed).set("resourceVersion", version);
    }
    ObjectNode stored = writing.update(live, changed, "", Optional.of(request.manager()));
    return new ApiAnswer(200, of(request.type(), stored));
  }

  /** Turns a merge patch of the scale into one of the object. */
  static ApiRequest patch(ApiRequest request, ObjectNode live) {
    if (!request.contentType().equals(Patching.MERGE)) {
      throw ApiException.unsupportedMediaType(Patching.MERGE);
    }
    JsonNode scale =
        MergePatch.apply(of(request.type(), live), request.body().orElseGet(Json::object));
    ObjectNode patch = Json.object();
    patch.putObject("spec").set("replicas", Json.at(scale, "spec", "replicas"));
    return new ApiRequest(
        request.verb(),
        request.type(),
        request.namespace(),
        request.name(),
        "",
        request.query(),
        request.contentType(),
        Optional.of(patch),
        request.userAgent());
  }
}
