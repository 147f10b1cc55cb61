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
      if (change.kind() == Change.Kind.DELETED) {
        dependents(new Meta(change.object()).uid()).forEach(this::collect);
      } else if (transaction.get(change.key()).isPresent()) {
        collect(change.key());
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
    List<JsonNode> owners = new Meta(live.get()).owners();
    List<JsonNode> present = owners.stream().filter(owner -> exists(owner, key)).toList();
    if (present.size() == owners.size()) {
      return;
    }
    if (present.isEmpty()) {
      new Deletion(transaction, stamps).delete(key);
      return;
    }
    ObjectNode changed = live.get().deepCopy();
    new Meta(changed).owners(present);
    ResourceType type = catalog.ofKind(transaction.objects(), changed).orElseThrow();
    transaction.put(
        key,
        new Ownership(type.type(), type.apiVersion(), "kube-controller-manager", stamps.now())
            .update(live.get(), changed));
  }

  /**
   * Whether an owner exists. An owner of an unknown kind, or a namespaced owner of a cluster-scoped
   * object, counts as existing: the real collector ignores such references too.
   */
  private boolean exists(JsonNode owner, Key dependent) {
    Optional<ResourceType> found = catalog.ofKind(transaction.objects(), owner);
    if (found.isEmpty() || (found.get().namespaced() && dependent.namespace().isEmpty())) {
      return true;
    }
    ResourceType type = found.get();
    String namespace = type.namespaced() ? dependent.namespace() : "";
    return transaction
        .get(new Key(type.group(), type.plural(), namespace, Json.text(owner, "name")))
        .filter(object -> new Meta(object).uid().equals(uid(owner)))
        .isPresent();
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
