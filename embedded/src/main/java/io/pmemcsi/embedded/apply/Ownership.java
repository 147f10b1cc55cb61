package io.pmemcsi.embedded.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.apply.Managers.ManagerId;
import io.pmemcsi.embedded.apply.Managers.Share;
import io.pmemcsi.embedded.apply.PathElement.FieldName;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Type.Struct;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Keeps metadata.managedFields true while an object is written.
 *
 * @param type the shape of the object
 * @param apiVersion the version in which the client wrote it
 * @param manager the name the client goes by
 * @param time now, as the server writes times
 */
public record Ownership(Struct type, String apiVersion, String manager, String time) {
  /** Owns what was there before the first apply. */
  private static final String FIRST = "before-first-apply";

  /** Fields that the server itself looks after: nobody owns them. */
  private static final FieldSet UNOWNED = unowned();

  /**
   * The changed object with its new owners, after a create, an update or a patch.
   *
   * @param live what is stored, or an object in which nobody wrote anything yet
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
      // Nobody owned anything so far, so the server does not begin to keep book now.
      return after;
    }
    managers.widen(Fields.of(before, type), type);
    Merging.Result difference = Merging.of(before, after, type);
    FieldSet written = difference.modified().union(difference.added());
    ManagerId nobody = ManagerId.updater("", "");
    managers.take(written, nobody);
    managers.take(difference.removed(), nobody);
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
   * @param empty an object in which nobody wrote anything yet
   * @throws ApplyConflictException without force, where others own what would change
   */
  public ObjectNode apply(ObjectNode empty, ObjectNode live, ObjectNode config, boolean force) {
    Managers managers = managersOf(live);
    ObjectNode before = unmanaged(live);
    if (managers.shares().isEmpty()) {
      managers = managersOf(new Ownership(type, apiVersion, FIRST, time).update(empty, before));
    }
    managers.widen(Fields.of(before, type), type);
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

  /** Removes what this manager applied last time, not this time, and nobody else owns. */
  private JsonNode prune(JsonNode merged, Optional<Share> last, Managers managers) {
    if (last.isEmpty()) {
      return merged;
    }
    FieldSet lastFields = last.get().fields();
    JsonNode pruned = Fields.without(merged, lastFields, type);
    FieldSet wanted = new FieldSet();
    for (Share share : managers.shares().values()) {
      wanted = wanted.union(share.fields());
    }
    FieldSet all = Fields.of(merged, type);
    FieldSet kept = Fields.of(pruned, type);
    pruned = Fields.without(merged, all.difference(kept.union(wanted)), type);
    kept = Fields.of(pruned, type);
    return Fields.without(merged, all.difference(kept).intersection(lastFields), type);
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
        .forEach(name -> set.insert(List.of(new FieldName(name))));
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
        .forEach(name -> set.insert(List.of(new FieldName("metadata"), new FieldName(name))));
    return set;
  }
}
