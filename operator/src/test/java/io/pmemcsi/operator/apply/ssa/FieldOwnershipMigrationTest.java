package io.pmemcsi.operator.apply.ssa;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import org.junit.jupiter.api.Test;

class FieldOwnershipMigrationTest {

  private static final String APPLIED =
      "{manager: me, operation: Apply, apiVersion: v1, fieldsV1: {f:data: {f:a: {}}}}";
  private static final String UPDATED =
      "{manager: me, operation: Update, apiVersion: v1, fieldsV1: {f:data: {f:a: {}, f:b: {}}}}";
  private static final String OTHER =
      "{manager: you, operation: Update, apiVersion: v1, fieldsV1: {f:data: {f:c: {}}}}";

  private final KubernetesSerialization serialization = new KubernetesSerialization();
  private final FieldOwnershipMigration migration = new FieldOwnershipMigration("me");

  @Test
  void appliedObjectsNeedNoMigration() {
    assertThat(migration.of(object(APPLIED, OTHER))).isEmpty();
    assertThat(migration.of(object(OTHER))).isEmpty();
    assertThat(migration.of(object())).isEmpty();
  }

  @Test
  void updatedFieldsBecomeAppliedOnes() {
    List<ManagedFieldsEntry> after = migration.of(object(UPDATED, OTHER)).orElseThrow();

    assertThat(after)
        .isEqualTo(
            object(OTHER, UPDATED.replace("Update", "Apply")).getMetadata().getManagedFields());
  }

  @Test
  void severalUpdatesAreMerged() {
    String older =
        "{manager: me, operation: Update, apiVersion: v1beta1, fieldsV1: {f:data: {f:d: {f:e:"
            + " {}}}}}";

    assertThat(migration.of(object(UPDATED, older)).orElseThrow())
        .isEqualTo(
            object(
                    "{manager: me, operation: Apply, apiVersion: v1,"
                        + " fieldsV1: {f:data: {f:a: {}, f:b: {}, f:d: {f:e: {}}}}}")
                .getMetadata()
                .getManagedFields());
  }

  /** Otherwise we would own defaults, and revert the number of replicas. */
  @Test
  void updateBeforeTheFirstApplyIsDropped() {
    assertThat(migration.of(object(APPLIED, UPDATED, OTHER)).orElseThrow())
        .isEqualTo(object(APPLIED, OTHER).getMetadata().getManagedFields());
  }

  private HasMetadata object(String... entries) {
    return serialization.<HasMetadata>unmarshal(
        """
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: a
          managedFields: [%s]
        """
            .formatted(String.join(", ", entries)));
  }
}
