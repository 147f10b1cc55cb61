package io.pmemcsi.embedded.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The field managers of one object: the decoded form of metadata.managedFields. */
final class Managers {
  static final String APPLY = "Apply";
  static final String UPDATE = "Update";

  /**
   * A manager. Appliers are identified by name, updaters by name and version.
   *
   * @param apiVersion "" for an applier
   */
  record ManagerId(String name, String operation, String apiVersion) {
    static ManagerId applier(String name) {
      return new ManagerId(name, APPLY, "");
    }

    static ManagerId updater(String name, String apiVersion) {
      return new ManagerId(name, UPDATE, apiVersion);
    }
  }

  /**
   * The fields of one manager.
   *
   * @param time when it last took ownership of a field, if known
   */
  record Share(FieldSet fields, String apiVersion, Optional<String> time) {
    Share with(FieldSet newFields) {
      return new Share(newFields, apiVersion, time);
    }
  }

  private final Map<ManagerId, Share> shares = new LinkedHashMap<>();

  static Managers decode(JsonNode managedFields) {
    Managers managers = new Managers();
    for (JsonNode entry : managedFields) {
      String operation = Json.text(entry, "operation");
      String version = Json.text(entry, "apiVersion");
      ManagerId id =
          new ManagerId(
              Json.text(entry, "manager"), operation, operation.equals(APPLY) ? "" : version);
      Optional<String> time =
          entry.path("time").isTextual() ? Optional.of(Json.text(entry, "time")) : Optional.empty();
      FieldSet fields = FieldSet.decode(entry.path("fieldsV1"));
      managers.shares.put(id, new Share(fields, version, time));
    }
    return managers;
  }

  ArrayNode encode() {
    List<Map.Entry<ManagerId, Share>> entries = new ArrayList<>(shares.entrySet());
    entries.sort(
        Comparator.comparing((Map.Entry<ManagerId, Share> entry) -> entry.getKey().operation())
            .thenComparing(entry -> entry.getValue().time().orElse(""))
            .thenComparing(entry -> entry.getKey().name())
            .thenComparing(entry -> entry.getValue().apiVersion()));
    ArrayNode array = Json.array();
    for (Map.Entry<ManagerId, Share> entry : entries) {
      Share share = entry.getValue();
      ObjectNode object = array.addObject();
      object.put("manager", entry.getKey().name());
      object.put("operation", entry.getKey().operation());
      object.put("apiVersion", share.apiVersion());
      share.time().ifPresent(time -> object.put("time", time));
      object.put("fieldsType", "FieldsV1");
      object.set("fieldsV1", share.fields().encode());
    }
    return array;
  }

  Map<ManagerId, Share> shares() {
    return shares;
  }

  Optional<Share> share(ManagerId id) {
    return Optional.ofNullable(shares.get(id));
  }

  /** Sets the fields of a manager; a manager without fields is removed. */
  void put(ManagerId id, Share share) {
    if (share.fields().isEmpty()) {
      shares.remove(id);
    } else {
      shares.put(id, share);
    }
  }

  /** Widens the fields of each manager, see {@link FieldSet#widened}. */
  void widen(FieldSet value) {
    shares.replaceAll((_, share) -> share.with(share.fields().widened(value)));
  }

  /** The fields of a set that other managers own. */
  Map<ManagerId, FieldSet> owners(FieldSet fields, ManagerId except) {
    Map<ManagerId, FieldSet> owners = new LinkedHashMap<>();
    shares.forEach(
        (id, share) -> {
          FieldSet owned = share.fields().intersection(fields);
          if (!id.equals(except) && !owned.isEmpty()) {
            owners.put(id, owned);
          }
        });
    return owners;
  }

  /** Removes fields from all managers except one. */
  void take(FieldSet fields, ManagerId except) {
    for (Map.Entry<ManagerId, Share> entry : List.copyOf(shares.entrySet())) {
      if (!entry.getKey().equals(except)) {
        put(entry.getKey(), entry.getValue().with(entry.getValue().fields().difference(fields)));
      }
    }
  }
}
