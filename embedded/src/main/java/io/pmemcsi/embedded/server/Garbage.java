package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.apply.Ownership;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.store.Key;
import io.pmemcsi.embedded.store.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Deletes what no longer has an owner, and looks after foreground and orphaning deletions. */
final class Garbage {
  private enum Owner {
    SOLID,
    WAITING,
    ABSENT
  }

  /** The program that the collector is a part of. */
  private static final String COLLECTOR = "kube-controller-manager";

  private final Transaction transaction;
  private final Catalog catalog;
  private final Deleting deleting;
  private final ServerContext surroundings;

  Garbage(Transaction transaction, Catalog catalog, Deleting deleting, ServerContext surroundings) {
    this.transaction = transaction;
    this.catalog = catalog;
    this.deleting = deleting;
    this.surroundings = surroundings;
  }

  /** An object was written. */
  void present(Key key, ObjectNode object) {
    Meta meta = new Meta(object);
    if (meta.deleting() && meta.finalizers().contains(Meta.ORPHAN)) {
      dependents(meta.uid()).forEach(dependent -> disown(dependent, meta.uid()));
      removeFinalizer(key, Meta.ORPHAN);
    } else if (meta.deleting() && meta.finalizers().contains(Meta.FOREGROUND)) {
      dependents(meta.uid()).forEach(this::judge);
      finishForeground(key);
    }
    if (!meta.deleting() && !meta.owners().isEmpty()) {
      judge(key);
    }
  }

  /** An object is gone: its dependents may be garbage now, and its owners may go on. */
  void gone(Key key, ObjectNode object) {
    Meta meta = new Meta(object);
    dependents(meta.uid()).forEach(this::judge);
    for (JsonNode reference : meta.owners()) {
      ownerKey(reference, key).ifPresent(this::finishForeground);
    }
  }

  private List<Key> dependents(String uid) {
    List<Key> keys = new ArrayList<>();
    for (Map.Entry<Key, ObjectNode> entry : transaction.all().entrySet()) {
      for (JsonNode reference : new Meta(entry.getValue()).owners()) {
        if (Json.text(reference, "uid").equals(uid)) {
          keys.add(entry.getKey());
        }
      }
    }
    return keys;
  }

  private void judge(Key key) {
    Optional<ObjectNode> found = transaction.get(key);
    if (found.isEmpty() || new Meta(found.get()).deleting()) {
      return;
    }
    List<String> lost = new ArrayList<>();
    boolean solid = false;
    boolean waiting = false;
    for (JsonNode reference : new Meta(found.get()).owners()) {
      Owner state = state(reference, key);
      solid |= state == Owner.SOLID;
      waiting |= state == Owner.WAITING;
      if (state != Owner.SOLID) {
        lost.add(Json.text(reference, "uid"));
      }
    }
    if (lost.isEmpty()) {
      return;
    }
    if (solid) {
      lost.forEach(uid -> disown(key, uid));
    } else {
      boolean owns = !dependents(new Meta(found.get()).uid()).isEmpty();
      deleting.delete(
          key,
          found.get(),
          Optional.of(
              waiting && owns ? DeleteOptions.Policy.FOREGROUND : DeleteOptions.Policy.BACKGROUND));
    }
  }

  private Owner state(JsonNode reference, Key dependent) {
    Optional<Key> key = ownerKey(reference, dependent);
    if (key.isEmpty()) {
      return Owner.SOLID;
    }
    Optional<ObjectNode> owner =
        transaction
            .get(key.get())
            .filter(object -> new Meta(object).uid().equals(Json.text(reference, "uid")));
    if (owner.isEmpty()) {
      return Owner.ABSENT;
    }
    Meta meta = new Meta(owner.get());
    return meta.deleting() && meta.finalizers().contains(Meta.FOREGROUND)
        ? Owner.WAITING
        : Owner.SOLID;
  }

  /**
   * Where the owner should be; empty where that cannot be said, because its kind is not known or it
   * is namespaced and the dependent is not. The real collector leaves such objects alone too.
   */
  private Optional<Key> ownerKey(JsonNode reference, Key dependent) {
    Optional<ResourceType> type =
        catalog.ofKind(
            transaction, Json.text(reference, "apiVersion"), Json.text(reference, "kind"));
    if (type.isEmpty() || (type.get().namespaced() && dependent.namespace().isEmpty())) {
      return Optional.empty();
    }
    return Optional.of(
        new Key(
            type.get().group(),
            type.get().plural(),
            type.get().namespaced() ? dependent.namespace() : "",
            Json.text(reference, "name")));
  }

  private void finishForeground(Key key) {
    Optional<ObjectNode> owner = transaction.get(key);
    if (owner.isEmpty()) {
      return;
    }
    Meta meta = new Meta(owner.get());
    if (!meta.deleting() || !meta.finalizers().contains(Meta.FOREGROUND)) {
      return;
    }
    for (Key dependent : dependents(meta.uid())) {
      for (JsonNode reference : new Meta(transaction.get(dependent).orElseThrow()).owners()) {
        if (Json.text(reference, "uid").equals(meta.uid())
            && reference.path("blockOwnerDeletion").asBoolean()) {
          return;
        }
      }
    }
    removeFinalizer(key, Meta.FOREGROUND);
  }

  private void removeFinalizer(Key key, String finalizer) {
    ObjectNode object = transaction.get(key).orElseThrow().deepCopy();
    List<String> left = new Meta(object).finalizers();
    left.remove(finalizer);
    new Meta(object).finalizers(left);
    if (left.isEmpty()) {
      transaction.delete(key);
    } else {
      transaction.put(key, object);
    }
  }

  private void disown(Key dependent, String uid) {
    ObjectNode live = transaction.get(dependent).orElseThrow();
    ObjectNode object = live.deepCopy();
    ArrayNode left = Json.array();
    for (JsonNode reference : new Meta(object).owners()) {
      if (!Json.text(reference, "uid").equals(uid)) {
        left.add(reference);
      }
    }
    ObjectNode metadata = Json.child(object, "metadata");
    if (left.isEmpty()) {
      metadata.remove("ownerReferences");
    } else {
      metadata.set("ownerReferences", left);
    }
    transaction.put(dependent, owned(live, object));
  }

  /** The collector is a client like others: what it takes away, nobody owns any more. */
  private ObjectNode owned(ObjectNode live, ObjectNode changed) {
    String apiVersion = Json.text(live, "apiVersion");
    return catalog
        .ofKind(transaction, apiVersion, Json.text(live, "kind"))
        .map(
            type ->
                new Ownership(type.type(), apiVersion, COLLECTOR, surroundings.now())
                    .update(live, changed))
        .orElse(changed);
  }
}
