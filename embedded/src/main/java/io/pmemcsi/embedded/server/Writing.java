package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.apply.Ownership;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Decoding;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.store.Key;
import io.pmemcsi.embedded.store.Transaction;
import java.util.List;
import java.util.Optional;

/** Takes an object that a client sent through every step until it is stored. */
final class Writing {
  private static final String NAMESPACES = "namespaces";

  private final Transaction transaction;
  private final Catalog catalog;
  private final ServerContext surroundings;
  private final ResourceType type;

  Writing(Transaction transaction, Catalog catalog, ServerContext surroundings, ResourceType type) {
    this.transaction = transaction;
    this.catalog = catalog;
    this.surroundings = surroundings;
    this.type = type;
  }

  /** The ownership rules for a client's write. */
  Ownership ownership(String manager) {
    return new Ownership(type.type(), type.apiVersion(), manager, surroundings.now());
  }

  /** An object of this kind before anybody wrote it. */
  ObjectNode empty() {
    ObjectNode empty = type.custom().isPresent() ? Json.object() : Decoding.empty(type.type());
    return empty.put("apiVersion", type.apiVersion()).put("kind", type.kind());
  }

  /**
   * Stores a new object.
   *
   * @param owner the manager that now owns its fields, empty if managedFields are right already
   */
  ObjectNode create(ObjectNode given, String namespace, Optional<String> owner) {
    ObjectNode object = given.deepCopy();
    decode(object, owner.isEmpty());
    Meta meta = new Meta(object);
    if (!meta.get("resourceVersion").isEmpty()) {
      throw ApiException.bare("resourceVersion should not be set on objects to be created");
    }
    meta.set("namespace", namespace);
    if (owner.isPresent()) {
      object = ownership(owner.get()).update(empty(), object);
      meta = new Meta(object);
    }
    if (meta.name().isEmpty() && !meta.get("generateName").isEmpty()) {
      meta.set("name", meta.get("generateName") + surroundings.newSuffix());
    }
    checkNamespace(namespace, meta.name());
    Key key = meta.key(type);
    meta.set("uid", surroundings.newUid());
    meta.set("creationTimestamp", surroundings.now());
    meta.set("deletionTimestamp", "");
    Json.child(object, "metadata").remove(List.of("deletionGracePeriodSeconds", "selfLink"));
    new Strategy(type).create(object);
    new Checks(type, catalog.newer()).created(object);
    Optional<ObjectNode> existing = transaction.get(key);
    if (existing.isPresent()) {
      throw ApiException.alreadyExists(type, key.name(), new Meta(existing.get()).deleting());
    }
    return transaction.put(key, object);
  }

  private void checkNamespace(String namespace, String name) {
    if (namespace.isEmpty()) {
      return;
    }
    ObjectNode found =
        transaction
            .get(new Key("", NAMESPACES, "", namespace))
            .orElseThrow(
                () ->
                    ApiException.notFound(
                        catalog.find(transaction, "", "v1", NAMESPACES).orElseThrow(), namespace));
    if (new Meta(found).deleting()) {
      throw ApiException.forbidden(
          type,
          name,
          "unable to create new content in namespace %s because it is being terminated"
              .formatted(namespace));
    }
  }

  /** Stores a changed object; one that waited only for its last finalizer goes. */
  ObjectNode update(ObjectNode live, ObjectNode given, String subresource, Optional<String> owner) {
    ObjectNode object = given.deepCopy();
    decode(object, owner.isEmpty());
    checkVersion(object, live);
    if (owner.isPresent()) {
      object = ownership(owner.get()).update(live, object);
    }
    new Strategy(type).update(object, live, subresource);
    new Checks(type, catalog.newer()).updated(object, live);
    new Meta(object).copy(live, List.of("resourceVersion"));
    object.set("apiVersion", live.get("apiVersion"));
    Key key = new Meta(live).key(type);
    if (new Meta(object).deleting() && new Meta(object).finalizers().isEmpty()) {
      transaction.delete(key);
      return object;
    }
    return Json.same(object, live) ? live : transaction.put(key, object);
  }

  private void checkVersion(ObjectNode object, ObjectNode live) {
    Meta before = new Meta(live);
    String uid = new Meta(object).uid();
    if (!uid.isEmpty() && !uid.equals(before.uid())) {
      throw ApiException.conflict(
          type,
          before.name(),
          "StorageError: invalid object, Code: 4, Key: /registry/%s%s/%s%s, ResourceVersion: 0, "
                  .formatted(
                      type.custom().isPresent() ? type.group() + "/" : "",
                      type.plural(),
                      before.namespace().isEmpty() ? "" : before.namespace() + "/",
                      before.name())
              + "AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s"
                  .formatted(uid, before.uid()));
    }
    String version = new Meta(object).get("resourceVersion");
    if (version.isEmpty() && type.custom().isPresent()) {
      throw ApiException.versionNeeded(type, before.name());
    }
    if (!version.isEmpty() && !version.equals(before.get("resourceVersion"))) {
      throw ApiException.modified(type, before.name());
    }
  }

  private void decode(ObjectNode object, boolean applied) {
    object.put("apiVersion", type.apiVersion()).put("kind", type.kind());
    Json.child(object, "metadata");
    if (type.custom().isPresent()) {
      // What an apply emptied is null in 1.20, and then refused where the schema allows no null.
      type.custom().get().normalise(object, !applied || catalog.newer());
      Decoding.normalise(Json.child(object, "metadata"), catalog.objectMeta());
    } else {
      BuiltIn.decode(object, type);
    }
  }
}
