package io.pmemcsi.operator.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.api.reconciler.Constants;
import io.javaoperatorsdk.operator.processing.GroupVersionKind;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.apply.Outcome;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OperatorMetricsTest {

  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final OperatorMetrics metrics = new OperatorMetrics(registry, "me");
  private final HasMetadata pmem = named(new PmemCSIDeployment(), "same", "1");
  private final HasMetadata template = named(new CSIDriverDeployment(), "same", "2");

  @Test
  void resourcesOfTwoKindsWithOneNameAreSeparate() {
    metrics.status(pmem, "Running", Optional.empty());
    metrics.status(template, "Failed", Optional.empty());
    metrics.ownedObjects(pmem, List.of(object("of-pmem")));
    metrics.ownedObjects(template, List.of(object("of-template")));

    assertThat(text())
        .contains("resources{kind=\"PmemCSIDeployment\",phase=\"Running\"} 1.0")
        .contains("resources{kind=\"CSIDriverDeployment\",phase=\"Failed\"} 1.0")
        .contains("name=\"of-pmem\"")
        .contains("name=\"of-template\"");

    metrics.cleanupDoneFor(
        new ResourceID("same"),
        Map.of(Constants.RESOURCE_GVK_KEY, GroupVersionKind.gvkFor(PmemCSIDeployment.class)));

    assertThat(text())
        .doesNotContain("PmemCSIDeployment")
        .doesNotContain("of-pmem")
        .contains("kind=\"CSIDriverDeployment\"")
        .contains("of-template");

    metrics.deleted(template);

    assertThat(text()).doesNotContain("CSIDriverDeployment").doesNotContain("of-template");
  }

  @Test
  void expiryAndDeletionOfResourcesAreTimestamps() {
    pmem.getMetadata().setDeletionTimestamp("2030-01-01T00:00:00Z");
    metrics.status(pmem, "Running", Optional.of(Instant.parse("2031-01-01T00:00:00Z")));

    assertThat(text())
        .contains(
            "pmem_csi_operator_certificate_expiry_timestamp_seconds{kind=\"PmemCSIDeployment\","
                + "name=\"same\",namespace=\"\"} 1.924992E9")
        .contains(
            "pmem_csi_operator_deletion_timestamp_seconds{kind=\"PmemCSIDeployment\","
                + "name=\"same\",namespace=\"\"} 1.893456E9");

    metrics.deleted(pmem);

    assertThat(text()).doesNotContain("timestamp_seconds{kind");
  }

  @Test
  void queueReconciliationsAndErrorsAreCounted() {
    metrics.reconcileCustomResource(pmem, null, Map.of());
    metrics.reconcileCustomResource(pmem, null, Map.of());
    assertThat(text()).contains("pmem_csi_operator_queue_length 2.0");
    assertThat(metrics.queued()).isEqualTo(2);

    metrics.reconciliationExecutionStarted(pmem, Map.of());
    assertThat(text())
        .contains("pmem_csi_operator_queue_length 1.0")
        .contains("pmem_csi_operator_reconciles_running 1.0");

    metrics.failedReconciliation(pmem, new IllegalStateException("x"), Map.of());
    metrics.reconciliationExecutionFinished(pmem, Map.of());
    assertThat(metrics.finished()).isEqualTo(1);
    assertThat(text())
        .contains("pmem_csi_operator_reconciles_running 0.0")
        .contains("pmem_csi_operator_reconciles_total{kind=\"PmemCSIDeployment\"} 1.0")
        .contains("pmem_csi_operator_reconcile_errors_total{kind=\"PmemCSIDeployment\"} 1.0");
  }

  @Test
  void resourceThatIsDeletedWhileQueuedLeavesTheQueue() {
    metrics.reconcileCustomResource(pmem, null, Map.of());

    metrics.reconciliationExecutionFinished(pmem, Map.of());

    assertThat(metrics.queued()).isZero();
    assertThat(text())
        .contains("pmem_csi_operator_queue_length 0.0")
        .contains("pmem_csi_operator_reconciles_running 0.0");
  }

  @Test
  void objectsAreCountedByOutcome() {
    var ref = new ObjectRef("v1", "Service", "", "a");
    metrics.applied(
        pmem, new Outcome(List.of(ref, ref), List.of(ref), List.of(ref), List.of(), List.of(ref)));

    assertThat(text())
        .contains("pmem_csi_operator_objects_applied_total{kind=\"PmemCSIDeployment\"} 3.0")
        .contains("pmem_csi_operator_objects_pruned_total{kind=\"PmemCSIDeployment\"} 1.0")
        .contains("pmem_csi_operator_object_conflicts_total{kind=\"PmemCSIDeployment\"} 1.0");
  }

  private String text() {
    var out = new ByteArrayOutputStream();
    try {
      PrometheusTextFormatWriter.builder().build().write(out, registry.scrape());
    } catch (IOException e) {
      throw new UncheckedIOException("memory can be written", e);
    }
    return out.toString(StandardCharsets.UTF_8);
  }

  private static HasMetadata named(HasMetadata resource, String name, String uid) {
    resource.setMetadata(new ObjectMetaBuilder().withName(name).withUid(uid).build());
    return resource;
  }

  private static HasMetadata object(String name) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName(name)
        .withCreationTimestamp("2030-01-01T00:00:00Z")
        .addNewManagedField()
        .withManager("me")
        .withOperation("Apply")
        .endManagedField()
        .endMetadata()
        .build();
  }
}
