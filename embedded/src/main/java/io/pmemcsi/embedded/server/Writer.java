package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.apply.ApplyConflictException;
import io.pmemcsi.embedded.apply.Ownership;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Decoding;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.server.ApiException.Cause;
import io.pmemcsi.embedded.store.Key;
import io.pmemcsi.embedded.store.Transaction;
import java.util.List;
import java.util.Optional;

/** Creates, updates and patches one object in a transaction. */
final class Writer {
  private static final String APPLY = "application/apply-patch+yaml";
  private static final String JSON = "application/json-patch+json";
  private static final String MERGE = "application/merge-patch+json";

  private final Transaction transaction;
  private final Catalog catalog;
  private final Stamps stamps;
  private final ApiRequest request;
  private final ResourceType type;

  Writer(Transaction transaction, Catalog catalog, Stamps stamps, ApiRequest request) {
    this.transaction = transaction;
    this.catalog = catalog;
    this.stamps = stamps;
    this.request = request;
    this.type = request.type();
  }

  ApiResponse create() {
    return new ApiResponse(201, create(body(), Optional.of(request.manager())));
  }

  ApiResponse update() {
    ObjectNode object = body();
    checkName(object);
    return new ApiResponse(200, update(live(), object, Optional.of(request.manager())));
  }

  ApiResponse patch() {
    JsonNode body = request.body().orElseGet(Json::object);
    if (request.contentType().equals(APPLY)) {
      return apply(object(body));
    }
    ObjectNode live = live();
    ObjectNode current = inVersion(type, live);
    ObjectNode patched =
        switch (request.contentType()) {
          case JSON -> JsonPatch.apply(current, body);
          case MERGE -> JsonPatch.merge(current, object(body));
          default ->
              throw ApiException.of(
                  415, "UnsupportedMediaType", "unsupported patch: " + request.contentType());
        };
    checkName(patched);
    if (!new Meta(patched).uid().equals(new Meta(live).uid())) {
      throw ApiException.invalid(type, request.name(), List.of(Cause.immutable("metadata.uid")));
    }
    return new ApiResponse(200, update(live, patched, Optional.of(request.manager())));
  }

  private ApiResponse apply(ObjectNode body) {
    String manager = request.parameter("fieldManager");
    if (manager.isEmpty()) {
      throw ApiException.invalid(
          type,
          request.name(),
          List.of(new Cause("FieldValueRequired", "required for apply", "fieldManager")));
    }
    ObjectNode config = body.deepCopy();
    checkType(config);
    if (Json.at(config, "metadata").has("managedFields")) {
      throw ApiException.badRequest("metadata.managedFields must be nil");
    }
    Meta meta = new Meta(config);
    if (!meta.name().isEmpty()) {
      checkName(config);
    }
    meta.set("name", request.name());
    meta.set("namespace", request.namespace());
    Optional<ObjectNode> live = transaction.get(request.key());
    if (live.isEmpty() && !request.subresource().isEmpty()) {
      throw ApiException.notFound(type, request.name());
    }
    ObjectNode before = live.map(object -> inVersion(type, object)).orElseGet(this::empty);
    try {
      ObjectNode applied =
          ownership(manager)
              .apply(empty(), before, config, request.parameter("force").equals("true"));
      return live.isPresent()
          ? new ApiResponse(200, update(live.get(), applied, Optional.empty()))
          : new ApiResponse(201, create(applied, Optional.empty()));
    } catch (ApplyConflictException e) {
      throw ApiException.applyConflict(e);
    }
  }

  private Ownership ownership(String manager) {
    return new Ownership(type.type(), type.apiVersion(), manager, stamps.now());
  }

  private ObjectNode empty() {
    ObjectNode empty = type.custom().isPresent() ? Json.object() : Decoding.empty(type.type());
    return empty.put("apiVersion", type.apiVersion()).put("kind", type.kind());
  }

  private ObjectNode live() {
    return transaction
        .get(request.key())
        .orElseThrow(() -> ApiException.notFound(type, request.name()));
  }

  /** An object in the requested version: only the name of the version differs. */
  static ObjectNode inVersion(ResourceType type, ObjectNode object) {
    return Json.text(object, "apiVersion").equals(type.apiVersion())
        ? object
        : object.deepCopy().put("apiVersion", type.apiVersion());
  }

  /**
   * Stores a new object.
   *
   * @param manager the owner of its fields; empty if managedFields are complete
   */
  private ObjectNode create(ObjectNode given, Optional<String> manager) {
    ObjectNode object = decoded(given);
    if (manager.isPresent()) {
      object = ownership(manager.get()).update(empty(), object);
    }
    Meta meta = new Meta(object);
    if (meta.name().isEmpty()) {
      throw ApiException.invalid(
          type, "", List.of(new Cause("FieldValueRequired", "name is required", "metadata.name")));
    }
    meta.set("namespace", request.namespace());
    checkNamespace();
    meta.set("uid", stamps.newUid());
    meta.set("creationTimestamp", stamps.now());
    meta.set("deletionTimestamp", "");
    meta.set("resourceVersion", "");
    new Strategy(type).create(object);
    checks().check(object, Optional.empty());
    Key key = meta.key(type);
    if (transaction.get(key).isPresent()) {
      throw ApiException.alreadyExists(type, key.name());
    }
    return transaction.put(key, object);
  }

  private Checks checks() {
    return new Checks(type, catalog.version().newer());
  }

  private void checkNamespace() {
    Key namespace = new Key("", "namespaces", "", request.namespace());
    if (!request.namespace().isEmpty() && transaction.get(namespace).isEmpty()) {
      throw ApiException.of(
          404, "NotFound", "namespaces \"%s\" not found".formatted(request.namespace()));
    }
  }

  /** Stores a changed object, or removes it when its last finalizer was removed. */
  private ObjectNode update(ObjectNode live, ObjectNode given, Optional<String> manager) {
    ObjectNode object = decoded(given);
    checkVersion(new Meta(object), new Meta(live));
    if (manager.isPresent()) {
      object = ownership(manager.get()).update(live, object);
    }
    new Strategy(type).update(object, live, request.subresource());
    checks().check(object, Optional.of(live));
    Meta meta = new Meta(object);
    meta.copy(live, List.of("resourceVersion"));
    object.set("apiVersion", live.get("apiVersion"));
    if (meta.deleting() && meta.finalizers().isEmpty()) {
      transaction.delete(meta.key(type));
      return object;
    }
    return Json.same(object, live) ? live : transaction.put(meta.key(type), object);
  }

  private void checkVersion(Meta given, Meta live) {
    if (!given.uid().isEmpty() && !given.uid().equals(live.uid())) {
      throw ApiException.conflict(type, live.name(), "the UID is " + live.uid());
    }
    String version = given.get("resourceVersion");
    if (version.isEmpty() && type.custom().isPresent()) {
      throw ApiException.invalid(
          type,
          live.name(),
          List.of(new Cause("FieldValueInvalid", "is required", "metadata.resourceVersion")));
    }
    if (!version.isEmpty() && !version.equals(live.get("resourceVersion"))) {
      throw ApiException.conflict(type, live.name(), "the object has been modified");
    }
  }

  private ObjectNode decoded(ObjectNode given) {
    ObjectNode object = given.deepCopy();
    object.put("apiVersion", type.apiVersion()).put("kind", type.kind());
    ObjectNode metadata = Json.child(object, "metadata");
    if (type.custom().isPresent()) {
      type.custom().get().prune(object);
      Decoding.normalise(metadata, catalog.objectMeta());
    } else {
      Defaults.decode(object, type);
    }
    return object;
  }

  private ObjectNode body() {
    ObjectNode object = object(request.body().orElseGet(Json::object));
    checkType(object);
    String namespace = new Meta(object).namespace();
    if (!namespace.isEmpty() && !namespace.equals(request.namespace())) {
      throw ApiException.badRequest(
          "the namespace of the object (%s) is not that of the request (%s)"
              .formatted(namespace, request.namespace()));
    }
    return object;
  }

  private void checkType(ObjectNode object) {
    String kind = Json.text(object, "kind");
    String apiVersion = Json.text(object, "apiVersion");
    if ((!kind.isEmpty() && !kind.equals(type.kind()))
        || (!apiVersion.isEmpty() && !apiVersion.equals(type.apiVersion()))) {
      throw ApiException.badRequest(
          "the body is a %s in %s, the request is for a %s in %s"
              .formatted(kind, apiVersion, type.kind(), type.apiVersion()));
    }
  }

  private void checkName(ObjectNode object) {
    String name = new Meta(object).name();
    if (!name.equals(request.name())) {
      throw ApiException.badRequest(
          "the name of the object (%s) is not that of the request (%s)"
              .formatted(name, request.name()));
    }
  }

  private static ObjectNode object(JsonNode node) {
    if (node instanceof ObjectNode object) {
      return object;
    }
    throw ApiException.badRequest("the body is not a JSON object: " + node);
  }
}
