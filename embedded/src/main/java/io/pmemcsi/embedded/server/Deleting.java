package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.store.Key;
import io.pmemcsi.embedded.store.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Deletes one object, or marks it as being deleted while finalizers hold it. */
final class Deleting {
  static final String CRD_CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

  /** Kinds whose deletion is answered with the object, not with a success. */
  private static final Set<String> SHOWN_WHEN_GONE =
      Set.of("pods", "persistentvolumes", "persistentvolumeclaims", "serviceaccounts");

  private final Transaction transaction;
  private final ServerContext surroundings;

  Deleting(Transaction transaction, ServerContext surroundings) {
    this.transaction = transaction;
    this.surroundings = surroundings;
  }

  /** The answer to a delete: what is left of the object, or that it is gone. */
  ApiAnswer delete(ResourceType type, ObjectNode live, DeleteOptions options) {
    checkPreconditions(type, new Meta(live), options);
    Key key = new Meta(live).key(type);
    Optional<ObjectNode> left = delete(key, live, options.policy());
    return new ApiAnswer(200, left.orElseGet(() -> gone(type, live)));
  }

  private ObjectNode gone(ResourceType type, ObjectNode live) {
    boolean shown =
        type.group().equals("storage.k8s.io") || SHOWN_WHEN_GONE.contains(type.groupResource());
    return shown ? live : success(type, new Meta(live));
  }

  /** Deletes and returns what is left while it has to wait. */
  Optional<ObjectNode> delete(Key key, ObjectNode live, Optional<DeleteOptions.Policy> policy) {
    ObjectNode object = live.deepCopy();
    Meta meta = new Meta(object);
    meta.finalizers(finalizers(key, meta, policy));
    boolean namespace = key.in("", "namespaces", "");
    if (meta.finalizers().isEmpty() && !namespace) {
      transaction.delete(key);
      return Optional.empty();
    }
    if (!meta.deleting()) {
      meta.set("deletionTimestamp", surroundings.now());
      Json.child(object, "metadata").put("deletionGracePeriodSeconds", 0);
      if (meta.generation() > 0) {
        meta.generation(meta.generation() + 1);
      }
    }
    if (namespace) {
      Json.child(object, "metadata").remove("deletionGracePeriodSeconds");
      Json.child(object, "status").put("phase", "Terminating");
    }
    return Optional.of(Json.same(object, live) ? live : transaction.put(key, object));
  }

  private static List<String> finalizers(
      Key key, Meta meta, Optional<DeleteOptions.Policy> policy) {
    List<String> names = new ArrayList<>(meta.finalizers());
    if (policy.isPresent()) {
      names.removeAll(List.of(Meta.FOREGROUND, Meta.ORPHAN));
      switch (policy.get()) {
        case FOREGROUND -> names.add(Meta.FOREGROUND);
        case ORPHAN -> names.add(Meta.ORPHAN);
        case BACKGROUND -> {}
      }
    }
    if (key.in(Catalog.CRD_GROUP, Catalog.CRDS, "")
        && !meta.deleting()
        && !names.contains(CRD_CLEANUP)) {
      names.add(CRD_CLEANUP);
    }
    return names;
  }

  private static void checkPreconditions(ResourceType type, Meta live, DeleteOptions options) {
    if (!options.uid().isEmpty() && !options.uid().equals(live.uid())) {
      throw ApiException.precondition(
          type,
          live.name(),
          "the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated"
              .formatted(options.uid(), live.uid()));
    }
    String version = options.resourceVersion();
    if (!version.isEmpty() && !version.equals(live.get("resourceVersion"))) {
      throw ApiException.precondition(
          type,
          live.name(),
          "the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified"
              .formatted(version, live.get("resourceVersion")));
    }
  }

  private static ObjectNode success(ResourceType type, Meta live) {
    ObjectNode status = Json.object();
    status.put("kind", "Status").put("apiVersion", "v1");
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
