package io.pmemcsi.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import org.junit.jupiter.api.Test;

class FieldOwnershipMigrationTest {

  private static final String APPLIED =
      "{manager: me, operation: Apply, apiVersion: v1, fieldsV1: {f:data: {f:a: {}}}}";
  private static final String WRITTEN =
      "{manager: me, operation: Update, apiVersion: v1, fieldsV1: {f:data: {f:a: {}, f:b: {}}}}";
  private static final String THEIRS =
      "{manager: you, operation: Update, apiVersion: v1, fieldsV1: {f:data: {f:c: {}}}}";

  private final KubernetesSerialization serialization = new KubernetesSerialization();
  private final FieldOwnershipMigration takeover = new FieldOwnershipMigration("me");

  @Test
  void appliedObjectsStayAsTheyAre() {
    assertThat(takeover.of(object(APPLIED, THEIRS))).isEmpty();
    assertThat(takeover.of(object(THEIRS))).isEmpty();
    assertThat(takeover.of(object())).isEmpty();
  }

  @Test
  void whatWasWrittenBecomesApplied() {
    List<ManagedFieldsEntry> after = takeover.of(object(WRITTEN, THEIRS)).orElseThrow();

    assertThat(after)
        .isEqualTo(
            object(THEIRS, WRITTEN.replace("Update", "Apply")).getMetadata().getManagedFields());
  }

  @Test
  void severalWritesAreAddedUp() {
    String older =
        "{manager: me, operation: Update, apiVersion: v1beta1, fieldsV1: {f:data: {f:d: {f:e:"
            + " {}}}}}";

    assertThat(takeover.of(object(WRITTEN, older)).orElseThrow())
        .isEqualTo(
            object(
                    "{manager: me, operation: Apply, apiVersion: v1,"
                        + " fieldsV1: {f:data: {f:a: {}, f:b: {}, f:d: {f:e: {}}}}}")
                .getMetadata()
                .getManagedFields());
  }

  /** Otherwise defaults would count as ours, and the number of replicas be taken back. */
  @Test
  void writeBeforeTheFirstApplyIsForgotten() {
    assertThat(takeover.of(object(APPLIED, WRITTEN, THEIRS)).orElseThrow())
        .isEqualTo(object(APPLIED, THEIRS).getMetadata().getManagedFields());
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
