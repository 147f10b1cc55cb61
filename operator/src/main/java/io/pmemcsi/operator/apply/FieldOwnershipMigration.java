package io.pmemcsi.operator.apply;

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
 * What we wrote by other means than server-side apply is not ours in its sense: it would never be
 * removed again. Objects are created by a plain POST, which never touches what is there already,
 * and operators of other releases knew no server-side apply at all.
 *
 * @param fieldManager under which we and they write
 */
record FieldOwnershipMigration(String fieldManager) {

  private static final String APPLY = "Apply";

  /**
   * The record of managed fields after which everything that we once wrote goes when it is no
   * longer wanted; empty if it is so already. Where we have applied since, the earlier write has
   * nothing to say but the defaults that the server filled in.
   */
  Optional<List<ManagedFieldsEntry>> of(HasMetadata object) {
    List<ManagedFieldsEntry> all = object.getMetadata().getManagedFields();
    List<ManagedFieldsEntry> written = all.stream().filter(this::isWritten).toList();
    if (written.isEmpty()) {
      return Optional.empty();
    }
    var result = new ArrayList<ManagedFieldsEntry>();
    all.stream().filter(entry -> !isWritten(entry)).forEach(result::add);
    if (result.stream().noneMatch(this::isApplied)) {
      result.add(
          new ManagedFieldsEntryBuilder(written.getFirst())
              .withOperation(APPLY)
              .withFieldsV1(union(written))
              .build());
    }
    return Optional.of(result);
  }

  private boolean isWritten(ManagedFieldsEntry entry) {
    return fieldManager.equals(entry.getManager())
        && "Update".equals(entry.getOperation())
        && (entry.getSubresource() == null || entry.getSubresource().isEmpty());
  }

  private boolean isApplied(ManagedFieldsEntry entry) {
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
