package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.apply.Ownership;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.store.Change;
import io.pmemcsi.embedded.store.Key;
import io.pmemcsi.embedded.store.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Does immediately after every write what controllers of a real cluster do a moment later: it
 * collects garbage by owner references and establishes custom resource definitions.
 */
record ClusterControllers(Transaction transaction, Catalog catalog, Stamps stamps) {

  /** Processes every change of the transaction, including its own ones. */
  void run() {
    for (int i = 0; i < transaction.changes().size(); i++) {
      Change change = transaction.changes().get(i);
      Meta meta = new Meta(change.object());
      if (change.kind() == Change.Kind.DELETED) {
        dependents(meta.uid()).forEach(this::collect);
        meta.owners().forEach(owner -> key(owner, change.key()).ifPresent(this::finishDeletion));
      } else if (transaction.get(change.key()).isPresent()) {
        collect(change.key());
        finishDeletion(change.key());
        if (change.key().in(Catalog.CRD_GROUP, Catalog.CRDS, "")) {
          establish(change.key());
        }
      }
    }
  }

  private List<Key> dependents(String uid) {
    List<Key> keys = new ArrayList<>();
    transaction
        .objects()
        .all()
        .forEach(
            (key, object) -> {
              if (new Meta(object).owners().stream().anyMatch(owner -> uid(owner).equals(uid))) {
                keys.add(key);
              }
            });
    return keys;
  }

  private static String uid(JsonNode owner) {
    return Json.text(owner, "uid");
  }

  /** Deletes an object without owners; removes references to absent owners from another one. */
  private void collect(Key key) {
    Optional<ObjectNode> live = transaction.get(key);
    if (live.isEmpty() || new Meta(live.get()).deleting()) {
      return;
    }
    Meta meta = new Meta(live.get());
    List<JsonNode> kept = meta.owners().stream().filter(owner -> keeps(owner, key)).toList();
    if (kept.size() == meta.owners().size()) {
      return;
    }
    if (kept.isEmpty()) {
      boolean awaited = meta.owners().stream().anyMatch(owner -> find(owner, key).isPresent());
      new Deletion(transaction, stamps).delete(key, awaited && !dependents(meta.uid()).isEmpty());
      return;
    }
    ObjectNode changed = live.get().deepCopy();
    new Meta(changed).owners(kept);
    ResourceType type = catalog.ofKind(transaction.objects(), changed).orElseThrow();
    transaction.put(
        key,
        new Ownership(type.type(), type.apiVersion(), "kube-controller-manager", stamps.now())
            .update(live.get(), changed));
  }

  /**
   * Whether an owner keeps its dependent. An owner of an unknown kind, or a namespaced owner of a
   * cluster-scoped object, does: the real collector ignores such references too.
   */
  private boolean keeps(JsonNode owner, Key dependent) {
    return key(owner, dependent).isEmpty()
        || find(owner, dependent).filter(found -> !found.foregroundDeletion()).isPresent();
  }

  private Optional<Meta> find(JsonNode owner, Key dependent) {
    return key(owner, dependent)
        .flatMap(transaction::get)
        .map(Meta::new)
        .filter(found -> found.uid().equals(uid(owner)));
  }

  private Optional<Key> key(JsonNode owner, Key dependent) {
    return catalog
        .ofKind(transaction.objects(), owner)
        .filter(type -> !type.namespaced() || !dependent.namespace().isEmpty())
        .map(
            type ->
                new Key(
                    type.group(),
                    type.plural(),
                    type.namespaced() ? dependent.namespace() : "",
                    Json.text(owner, "name")));
  }

  /** Deletes the dependents of an object that waits for them, and the object after them. */
  private void finishDeletion(Key key) {
    Optional<ObjectNode> owner = transaction.get(key);
    if (owner.isEmpty() || !new Meta(owner.get()).foregroundDeletion()) {
      return;
    }
    String uid = new Meta(owner.get()).uid();
    dependents(uid).forEach(this::collect);
    if (dependents(uid).stream().noneMatch(dependent -> blocks(dependent, uid))) {
      ObjectNode changed = owner.get().deepCopy();
      List<String> finalizers = new Meta(changed).finalizers();
      finalizers.remove(Meta.FOREGROUND);
      new Meta(changed).finalizers(finalizers);
      if (finalizers.isEmpty()) {
        transaction.delete(key);
      } else {
        transaction.put(key, changed);
      }
    }
  }

  private boolean blocks(Key dependent, String uid) {
    return new Meta(transaction.get(dependent).orElseThrow())
        .owners().stream()
            .anyMatch(
                owner -> uid(owner).equals(uid) && owner.path("blockOwnerDeletion").asBoolean());
  }

  private void establish(Key key) {
    ObjectNode crd = transaction.get(key).orElseThrow().deepCopy();
    ObjectNode status = Json.child(crd, "status");
    if (!status.path("conditions").isEmpty()) {
      return;
    }
    ArrayNode conditions = status.putArray("conditions");
    condition(conditions, "NamesAccepted", "NoConflicts");
    condition(conditions, "Established", "InitialNamesAccepted");
    transaction.put(key, crd);
  }

  private void condition(ArrayNode conditions, String type, String reason) {
    conditions
        .addObject()
        .put("type", type)
        .put("status", "True")
        .put("lastTransitionTime", stamps.now())
        .put("reason", reason)
        .put("message", "accepted by the embedded API");
  }
}
