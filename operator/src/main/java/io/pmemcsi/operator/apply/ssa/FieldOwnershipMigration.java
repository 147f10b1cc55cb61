package io.pmemcsi.operator.apply.ssa;

import io.fabric8.kubernetes.api.model.FieldsV1;
import io.fabric8.kubernetes.api.model.FieldsV1Builder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntryBuilder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Turns fields that we wrote without server-side apply into applied ones; otherwise a later apply
 * would never remove them. We create objects by POST, which never overwrites an existing object,
 * and earlier releases of the operator did not use server-side apply.
 *
 * @param fieldManager of this and of earlier releases
 */
record FieldOwnershipMigration(String fieldManager) {

  private static final String APPLY = "Apply";

  /**
   * The managedFields with which an apply removes everything that we wrote and no longer desire;
   * empty if nothing has to change. An update from before our first apply holds only defaults that
   * the server set, so it is dropped.
   */
  Optional<List<ManagedFieldsEntry>> of(HasMetadata object) {
    List<ManagedFieldsEntry> all = object.getMetadata().getManagedFields();
    List<ManagedFieldsEntry> updates = all.stream().filter(this::isUpdate).toList();
    if (updates.isEmpty()) {
      return Optional.empty();
    }
    var result = new ArrayList<ManagedFieldsEntry>();
    all.stream().filter(entry -> !isUpdate(entry)).forEach(result::add);
    if (result.stream().noneMatch(this::isApply)) {
      result.add(
          new ManagedFieldsEntryBuilder(updates.getFirst())
              .withOperation(APPLY)
              .withFieldsV1(union(updates))
              .build());
    }
    return Optional.of(result);
  }

  private boolean isUpdate(ManagedFieldsEntry entry) {
    return fieldManager.equals(entry.getManager())
        && "Update".equals(entry.getOperation())
        && (entry.getSubresource() == null || entry.getSubresource().isEmpty());
  }

  private boolean isApply(ManagedFieldsEntry entry) {
    return fieldManager.equals(entry.getManager()) && APPLY.equals(entry.getOperation());
  }

  private static FieldsV1 union(List<ManagedFieldsEntry> entries) {
    Map<String, Object> fields = new LinkedHashMap<>();
    for (ManagedFieldsEntry entry : entries) {
      if (entry.getFieldsV1() != null) {
        add(entry.getFieldsV1().getAdditionalProperties(), fields);
      }
    }
    return new FieldsV1Builder().withAdditionalProperties(fields).build();
  }

  private static void add(Map<?, ?> more, Map<String, Object> to) {
    more.forEach(
        (key, value) -> {
          var nested = new LinkedHashMap<String, Object>();
          if (to.get(String.valueOf(key)) instanceof Map<?, ?> known) {
            add(known, nested);
          }
          if (value instanceof Map<?, ?> map) {
            add(map, nested);
          }
          to.put(String.valueOf(key), nested);
        });
  }
}
