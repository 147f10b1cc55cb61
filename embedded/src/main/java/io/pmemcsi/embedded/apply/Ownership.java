package io.pmemcsi.embedded.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.apply.Managers.ManagerId;
import io.pmemcsi.embedded.apply.Managers.Share;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Type.Struct;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Updates metadata.managedFields when an object is written.
 *
 * @param type the type of the object
 * @param apiVersion the version that the client writes
 * @param manager the client's field manager
 * @param time the current time
 */
public record Ownership(Struct type, String apiVersion, String manager, String time) {
  /** The manager of all fields that precede the first apply. */
  private static final String FIRST = "before-first-apply";

  /** Fields that only the server sets: no manager owns them. */
  private static final FieldSet UNOWNED = unowned();

  /**
   * The changed object with its new owners, after a create, an update or a patch.
   *
   * @param live the stored object, or an empty one for a create
   */
  public ObjectNode update(ObjectNode live, ObjectNode changed) {
    Managers managers = managersOf(changed);
    if (managers.shares().isEmpty()) {
      managers = managersOf(live);
    }
    ObjectNode before = unmanaged(live);
    ObjectNode after = unmanaged(changed);
    boolean exists = Json.at(live, "metadata").has("uid");
    if (managers.shares().isEmpty() && exists) {
      // The server does not start to track an object that has no managers.
      return after;
    }
    widen(managers, before);
    Merging.Result difference = Merging.of(before, after, type);
    FieldSet written = difference.modified().union(difference.added());
    ManagerId none = ManagerId.updater("", "");
    managers.take(written, none);
    managers.take(difference.removed(), none);
    FieldSet owned = written.difference(UNOWNED);
    if (!owned.isEmpty()) {
      ManagerId id = ManagerId.updater(manager, apiVersion);
      FieldSet previous = managers.share(id).map(Share::fields).orElseGet(FieldSet::new);
      managers.put(id, new Share(previous.union(owned), apiVersion, Optional.of(time)));
    }
    return managed(after, managers);
  }

  /**
   * The live object with a configuration applied to it.
   *
   * @param empty an empty object
   * @throws ApplyConflictException without force, if other managers own a changed field
   */
  public ObjectNode apply(ObjectNode empty, ObjectNode live, ObjectNode config, boolean force) {
    Managers managers = managersOf(live);
    ObjectNode before = unmanaged(live);
    if (managers.shares().isEmpty()) {
      managers = managersOf(new Ownership(type, apiVersion, FIRST, time).update(empty, before));
    }
    widen(managers, before);
    ManagerId id = ManagerId.applier(manager);
    Optional<Share> last = managers.share(id);
    JsonNode merged = Merging.of(before, config, type).merged();
    FieldSet applied = Fields.of(config, type);
    managers.put(id, new Share(applied, apiVersion, last.flatMap(Share::time)));
    ObjectNode after = (ObjectNode) prune(merged, last, managers);
    Merging.Result difference = Merging.of(before, after, type);
    FieldSet written = difference.modified().union(difference.added());
    Map<ManagerId, FieldSet> owners = managers.owners(written, id);
    if (!force && !owners.isEmpty()) {
      throw ApplyConflictException.of(owners);
    }
    managers.take(written, id);
    managers.take(difference.removed(), id);
    boolean same = difference.same();
    Optional<String> since = same ? last.flatMap(Share::time) : Optional.of(time);
    managers.put(id, new Share(applied.difference(UNOWNED), apiVersion, since));
    return managed(same ? before : after, managers);
  }

  /** Removes fields that this manager applied before but not now, and no other manager owns. */
  private JsonNode prune(JsonNode merged, Optional<Share> last, Managers managers) {
    if (last.isEmpty()) {
      return merged;
    }
    FieldSet lastFields = last.get().fields();
    JsonNode pruned = Fields.without(merged, lastFields, type);
    FieldSet owned = new FieldSet();
    for (Share share : managers.shares().values()) {
      owned = owned.union(share.fields());
    }
    FieldSet all = Fields.of(merged, type);
    FieldSet kept = Fields.of(pruned, type);
    pruned = Fields.without(merged, all.difference(kept.union(owned)), type);
    kept = Fields.of(pruned, type);
    return Fields.without(merged, all.difference(kept).intersection(lastFields), type);
  }

  /** Only for kinds with a schema, as in the real server. */
  private void widen(Managers managers, ObjectNode before) {
    if (!type.fields().isEmpty()) {
      managers.widen(Fields.of(before, type));
    }
  }

  private static Managers managersOf(ObjectNode object) {
    return Managers.decode(Json.at(object, "metadata", "managedFields"));
  }

  private static ObjectNode unmanaged(ObjectNode object) {
    ObjectNode copy = object.deepCopy();
    if (copy.get("metadata") instanceof ObjectNode metadata) {
      metadata.remove("managedFields");
    }
    return copy;
  }

  private static ObjectNode managed(ObjectNode object, Managers managers) {
    if (!managers.shares().isEmpty()) {
      Json.child(object, "metadata").set("managedFields", managers.encode());
    }
    return object;
  }

  private static FieldSet unowned() {
    FieldSet set = new FieldSet();
    List.of("apiVersion", "kind", "metadata")
        .forEach(name -> set.insert(List.of(PathElement.field(name))));
    List.of(
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "clusterName",
            "generation",
            "managedFields",
            "resourceVersion")
        .forEach(
            name -> set.insert(List.of(PathElement.field("metadata"), PathElement.field(name))));
    return set;
  }
}
