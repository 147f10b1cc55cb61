package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.storage.StorageClassBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.operator.metrics.OperatorMetrics;
import io.pmemcsi.testbed.kubernetes.Definitions;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The default installation, which has no controller. */
@WithKubernetes(controllers = false)
class OperatorReschedulerIT {

  private static final String SELECTED = "volume.kubernetes.io/selected-node";

  @Test
  void onlyClaimsOfDriversWithoutControllerAreRescheduled(
      Sandbox sandbox, KubernetesClient client) {
    Definitions.install(client, Path.of("../deploy/crd"));
    String plain = "plain.rescheduler.example.com";
    String controlled = "controlled.rescheduler.example.com";
    deploy(sandbox, plain, "{}");
    deploy(sandbox, controlled, "{controllerTLS: {managed: true}}");
    stuck(sandbox, "plain", plain);
    stuck(sandbox, "controlled", controlled);

    var registry = new PrometheusRegistry();
    var metrics = new OperatorMetrics(registry, "test");
    try (OperatorRescheduler _ =
        OperatorRescheduler.start(client, sandbox.namespace(), metrics::rescheduled)) {
      await().until(() -> selectedNode(client, "plain").isEmpty());
      await().until(() -> rescheduled(registry) == 1);
    }

    assertThat(selectedNode(client, "controlled")).contains("no-such-node");
  }

  private static double rescheduled(PrometheusRegistry registry) {
    return registry.scrape("pmem_csi_operator_rescheduled_claims"::equals).stream()
        .flatMap(snapshot -> snapshot.getDataPoints().stream())
        .mapToDouble(point -> ((CounterSnapshot.CounterDataPointSnapshot) point).getValue())
        .sum();
  }

  private static void deploy(Sandbox sandbox, String name, String spec) {
    sandbox.create(
        Serialization.unmarshal(
            """
            apiVersion: pmem-csi.intel.com/v1beta1
            kind: PmemCSIDeployment
            metadata: {name: %s}
            spec: %s
            """
                .formatted(name, spec),
            PmemCSIDeployment.class));
  }

  private static void stuck(Sandbox sandbox, String name, String driver) {
    sandbox.create(
        new StorageClassBuilder()
            .withNewMetadata()
            .withName(driver)
            .endMetadata()
            .withProvisioner(driver)
            .withVolumeBindingMode("WaitForFirstConsumer")
            .build());
    sandbox
        .client()
        .resource(
            new PersistentVolumeClaimBuilder()
                .withNewMetadata()
                .withName(name)
                .withAnnotations(Map.of(SELECTED, "no-such-node"))
                .endMetadata()
                .withNewSpec()
                .withAccessModes("ReadWriteOnce")
                .withStorageClassName(driver)
                .withNewResources()
                .withRequests(Map.of("storage", new Quantity("1Gi")))
                .endResources()
                .endSpec()
                .build())
        .create();
  }

  private static Optional<String> selectedNode(KubernetesClient client, String claim) {
    return Optional.ofNullable(
            client.persistentVolumeClaims().withName(claim).get().getMetadata().getAnnotations())
        .map(annotations -> annotations.get(SELECTED));
  }
}
