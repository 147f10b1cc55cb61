package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.store.Objects;
import io.pmemcsi.embedded.store.Store;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.function.Predicate;

/** Answers to get and list. */
final class Reading {
  private final Store store;

  Reading(Store store) {
    this.store = store;
  }

  /** An object in the version that was asked for. */
  static ObjectNode as(ResourceType type, ObjectNode object) {
    if (Json.text(object, "apiVersion").equals(type.apiVersion())) {
      return object;
    }
    return object.deepCopy().put("apiVersion", type.apiVersion());
  }

  /** An object inside a list: the built-in ones do not repeat what they are. */
  static ObjectNode item(ResourceType type, ObjectNode object) {
    if (type.custom().isPresent()) {
      return as(type, object);
    }
    ObjectNode item = Json.object();
    item.setAll(object);
    item.remove(List.of("apiVersion", "kind"));
    return item;
  }

  static ApiAnswer get(ApiRequest request, Objects objects) {
    ObjectNode found =
        objects
            .get(request.key())
            .orElseThrow(() -> ApiException.notFound(request.type(), request.name()));
    return new ApiAnswer(200, as(request.type(), found));
  }

  /** Which objects a list or watch is about. */
  static Predicate<JsonNode> filter(ApiRequest request) {
    Predicate<JsonNode> filter =
        Selector.labels(request.parameter("labelSelector"))
            .and(Selector.fields(request.parameter("fieldSelector"), request.type()));
    return request.name().isEmpty()
        ? filter
        : filter.and(object -> Json.text(object, "metadata", "name").equals(request.name()));
  }

  ApiAnswer list(ApiRequest request, Store.At latest) {
    Store.At at = latest;
    String after = "";
    if (!request.parameter("continue").isEmpty()) {
      String[] token = decode(request.parameter("continue"));
      long revision = Long.parseLong(token[0]);
      if (!store.remembers(revision)) {
        throw ApiException.gone(
            "The provided continue parameter is too old to display a consistent list result. You"
                + " can start a new list without the continue parameter.");
      }
      at = store.at(revision);
      after = token[1];
    } else if (request.parameter("resourceVersionMatch").equals("Exact")) {
      at = exactly(request.parameter("resourceVersion"));
    }
    return page(request, at, after);
  }

  private Store.At exactly(String version) {
    long revision = Long.parseLong(version);
    if (!store.remembers(revision)) {
      throw ApiException.gone("The resourceVersion for the provided list is too old.");
    }
    return store.at(revision);
  }

  private static ApiAnswer page(ApiRequest request, Store.At at, String after) {
    ResourceType type = request.type();
    Predicate<JsonNode> filter = filter(request);
    String limitText = request.parameter("limit");
    int limit = limitText.isEmpty() ? 0 : Integer.parseInt(limitText);
    ObjectNode answer =
        Json.object().put("kind", type.listKind()).put("apiVersion", type.apiVersion());
    ObjectNode metadata = answer.putObject("metadata");
    metadata.put("resourceVersion", Long.toString(at.revision()));
    ArrayNode items = answer.putArray("items");
    List<ObjectNode> matching =
        at.objects().list(type.group(), type.plural(), request.namespace()).stream()
            .filter(object -> place(object).compareTo(after) > 0)
            .filter(filter)
            .toList();
    int size = limit > 0 ? Math.min(limit, matching.size()) : matching.size();
    matching.subList(0, size).forEach(object -> items.add(item(type, object)));
    if (size < matching.size()) {
      metadata.put("continue", encode(at.revision(), place(matching.get(size - 1))));
      if (request.parameter("labelSelector").isEmpty()
          && request.parameter("fieldSelector").isEmpty()) {
        metadata.put("remainingItemCount", matching.size() - size);
      }
    }
    return new ApiAnswer(200, answer);
  }

  // Sorts as the store does: namespace first, then name.
  private static String place(ObjectNode object) {
    Meta meta = new Meta(object);
    return meta.namespace() + "\u0001" + meta.name();
  }

  private static String encode(long revision, String place) {
    return Base64.getUrlEncoder()
        .encodeToString((revision + "\u0002" + place).getBytes(StandardCharsets.UTF_8));
  }

  private static String[] decode(String token) {
    try {
      return new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8)
          .split("\u0002", 2);
    } catch (IllegalArgumentException _) {
      throw ApiException.badRequest("continue key is not valid: illegal base64 data");
    }
  }
}
