package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.store.Change;
import io.pmemcsi.embedded.store.Key;
import io.pmemcsi.embedded.store.Transaction;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Does at once, after every write, what the real cluster's controllers do soon after it: collects
 * garbage, empties namespaces that end, and establishes or clears custom resource definitions.
 */
final class Housekeeping {
  private final Transaction transaction;
  private final ServerContext surroundings;
  private final Deleting deleting;
  private final Garbage garbage;

  Housekeeping(Transaction transaction, Catalog catalog, ServerContext surroundings) {
    this.transaction = transaction;
    this.surroundings = surroundings;
    this.deleting = new Deleting(transaction, surroundings);
    this.garbage = new Garbage(transaction, catalog, deleting, surroundings);
  }

  /** Follows every change of the transaction, including those it makes itself. */
  void settle() {
    for (int i = 0; i < transaction.changes().size(); i++) {
      Change change = transaction.changes().get(i);
      switch (change.kind()) {
        case ADDED, MODIFIED ->
            transaction.get(change.key()).ifPresent(o -> present(change.key(), o));
        case DELETED -> gone(change.key(), change.object());
      }
    }
  }

  private void present(Key key, ObjectNode object) {
    garbage.present(key, object);
    if (transaction.get(key).isEmpty()) {
      return;
    }
    if (key.in("", "namespaces", "") && new Meta(object).deleting()) {
      emptyNamespace(key);
    }
    if (key.in(Catalog.CRD_GROUP, Catalog.CRDS, "")) {
      definition(key, object);
    }
  }

  private void gone(Key key, ObjectNode object) {
    garbage.gone(key, object);
    Key namespace = new Key("", "namespaces", "", key.namespace());
    transaction
        .get(namespace)
        .filter(found -> new Meta(found).deleting())
        .ifPresent(_ -> emptyNamespace(namespace));
    for (ObjectNode crd : transaction.list(Catalog.CRD_GROUP, Catalog.CRDS, "")) {
      if (new Meta(crd).deleting() && Json.text(crd, "spec", "group").equals(key.group())) {
        definition(new Key(Catalog.CRD_GROUP, Catalog.CRDS, "", new Meta(crd).name()), crd);
      }
    }
  }

  private void emptyNamespace(Key namespace) {
    boolean empty = true;
    for (Map.Entry<Key, ObjectNode> entry : List.copyOf(transaction.all().entrySet())) {
      if (entry.getKey().namespace().equals(namespace.name())) {
        empty &= clear(entry.getKey());
      }
    }
    if (empty
        && transaction.get(namespace).filter(o -> new Meta(o).finalizers().isEmpty()).isPresent()) {
      transaction.delete(namespace);
    }
  }

  /** Deletes an object unless that is under way already; true if it is gone. */
  private boolean clear(Key key) {
    Optional<ObjectNode> object = transaction.get(key);
    if (object.isPresent() && !new Meta(object.get()).deleting()) {
      deleting.delete(key, object.get(), Optional.of(DeleteOptions.Policy.BACKGROUND));
    }
    return transaction.get(key).isEmpty();
  }

  private void definition(Key key, ObjectNode crd) {
    if (!new Meta(crd).deleting()) {
      establish(key, crd);
      return;
    }
    boolean empty = true;
    for (Map.Entry<Key, ObjectNode> entry : List.copyOf(transaction.all().entrySet())) {
      if (entry
          .getKey()
          .in(Json.text(crd, "spec", "group"), Json.text(crd, "spec", "names", "plural"), "")) {
        empty &= clear(entry.getKey());
      }
    }
    ObjectNode current = transaction.get(key).orElse(crd).deepCopy();
    List<String> finalizers = new Meta(current).finalizers();
    if (empty && finalizers.remove(Deleting.CRD_CLEANUP)) {
      new Meta(current).finalizers(finalizers);
      if (finalizers.isEmpty()) {
        transaction.delete(key);
      } else {
        transaction.put(key, current);
      }
    }
  }

  private void establish(Key key, ObjectNode crd) {
    ObjectNode object = crd.deepCopy();
    ObjectNode status = Json.child(object, "status");
    status.set("acceptedNames", Json.at(object, "spec", "names").deepCopy());
    ArrayNode stored =
        status.get("storedVersions") instanceof ArrayNode a ? a : status.putArray("storedVersions");
    Json.at(object, "spec", "versions")
        .forEach(
            version -> {
              boolean known = false;
              for (var name : stored) {
                known |= name.equals(version.path("name"));
              }
              if (version.path("storage").asBoolean() && !known) {
                stored.add(version.path("name"));
              }
            });
    if (!(status.get("conditions") instanceof ArrayNode a && !a.isEmpty())) {
      ArrayNode conditions = status.putArray("conditions");
      condition(conditions, "NamesAccepted", "NoConflicts", "no conflicts found");
      condition(
          conditions,
          "Established",
          "InitialNamesAccepted",
          "the initial names have been accepted");
    }
    if (!Json.same(object, crd)) {
      transaction.put(key, object);
    }
  }

  private void condition(ArrayNode conditions, String type, String reason, String message) {
    conditions
        .addObject()
        .put("type", type)
        .put("status", "True")
        .put("lastTransitionTime", surroundings.now())
        .put("reason", reason)
        .put("message", message);
  }
}
