package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.UnpreparedNode;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.testbed.kubernetes.FakeNodes;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The lifecycle of a PmemCSIDeployment on a real control plane, with the operator's permissions.
 */
@WithKubernetes(perClass = true)
class PmemDeploymentIT extends SharedOperator {

  private static final String SPEC = "nodeSelector: {test/life: \"yes\"}";

  /** With values that the server normalizes or completes. */
  private static final String OPTIONS =
      SPEC
          + ", controllerTLS: {managed: true}, imagePullSecrets: [{name: b}, {name: a}], nodePods:"
          + " {annotations: {z: a, a: z}, tolerations: [{key: k, effect: NoExecute,"
          + " tolerationSeconds: 0}, {operator: Exists}], affinity: {nodeAffinity:"
          + " {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms:"
          + " [{matchExpressions: [{key: a, operator: In, values: [z, b]}]}]}}}}, controllerPods:"
          + " {tolerations: [], affinity: {podAntiAffinity:"
          + " {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, namespaces: [b,"
          + " a], labelSelector: {matchLabels: {z: a, a: z}}}]}}}, sidecars: {provisioner:"
          + " {extraArgs: [--a, --b], resources: {limits: {cpu: \"0.5\", memory: 1024Mi}}}},"
          + " storageClassTemplates: [{metadata: {name: no-writes, annotations: {z: a, a: z}},"
          + " parameters: {z: a, a: z}, mountOptions: [z, a], allowedTopologies:"
          + " [{matchLabelExpressions: [{key: a, values: [z, b]}]}]}]";

  private static final Map<String, String> LABELS = Map.of("test/life", "yes");

  private TestDriver driver;

  @BeforeEach
  void name(TestInfo test) {
    driver =
        new TestDriver(sandbox, "l%08x.example.com".formatted(test.getDisplayName().hashCode()));
  }

  @AfterEach
  void deleteResource() {
    driver.self().delete();
    driver.awaitDeleted();
  }

  @Test
  void newDeploymentGoesFromInitializingToRunningWithEvents() {
    driver.create(SPEC);

    driver.awaitPhase("Initializing");
    await()
        .untilAsserted(
            () ->
                assertThat(driver.status().reason())
                    .contains("No node has the labels {test/life=yes}"));

    // with two nodes, the driver could become Running twice
    try (var nodes = FakeNodes.create(sandbox.cluster(), 1, LABELS).runPods().registerDrivers()) {
      driver.awaitPhase("Running");
      assertThat(nodes.names()).hasSize(1);
      var status = driver.status();
      assertThat(status.reason()).isEqualTo("All driver components are deployed successfully");
      assertThat(status.observedGeneration()).isEqualTo(1L);
      assertThat(status.component("Node").orElseThrow().reason())
          .isEqualTo("All 1 node driver pod(s) running successfully");
      assertThat(status.condition("DriverDeployed"))
          .map(DeploymentCondition::status)
          .contains("True");
      assertThat(driver.events()).containsExactlyInAnyOrder("NewDeployment", "Running");
    }
  }

  /** The pods are ready, but no kubelet finds the driver there. */
  @Test
  void driverThatNoKubeletHasRegisteredIsNotRunning() {
    driver.create(SPEC.replace("}", "}, kubeletDir: /wrong/kubelet"));
    try (var nodes = FakeNodes.create(sandbox.cluster(), 2, LABELS).runPods().registerDrivers()) {
      await()
          .untilAsserted(
              () ->
                  assertThat(driver.status().component("Node").map(DriverComponent::reason))
                      .contains(
                          ("Kubelet has not registered the driver on 2 node(s): %s. Check that"
                                  + " spec.kubeletDir is kubelet's directory there, and the log of"
                                  + " the container driver-registrar.")
                              .formatted(String.join(", ", nodes.names()))));
      assertThat(driver.status().phase()).isEqualTo("Initializing");

      driver.setSpec(SPEC);

      driver.awaitPhase("Running");

      // as kubelet does for a driver whose socket disappears; nothing else changes
      String lost = nodes.names().getLast();
      Edits.edit(
          client.storage().v1().csiNodes().withName(lost),
          found -> {
            found.getSpec().setDrivers(List.of());
            return found;
          });

      driver.awaitPhase("Initializing");
      assertThat(driver.status().reason())
          .contains("Kubelet has not registered the driver on 1 node(s): %s.".formatted(lost));
    }
  }

  @Test
  void nodeWithoutPreparedMemoryIsReportedUntilItHasSome() throws IOException {
    var managed = new AtomicLong();
    FakeMetrics metrics =
        FakeMetrics.serve(
            () -> "pmem_amount_total 9.0E9\npmem_amount_managed %d\n".formatted(managed.get()));
    sandbox.cleanUp(metrics::close);
    driver.create(SPEC);
    try (var nodes = FakeNodes.create(sandbox.cluster(), 1, LABELS).runPods().registerDrivers()) {
      driver.awaitPhase("Running");
      assertThat(driver.status().unpreparedNodes()).isEmpty();
      operator.stop();
      Pod running =
          client
              .pods()
              .inNamespace(sandbox.namespace())
              .withLabel("app.kubernetes.io/instance", driver.name())
              .list()
              .getItems()
              .getFirst();
      metrics.become(client, running);

      operator.start();

      await()
          .untilAsserted(
              () ->
                  assertThat(driver.status().unpreparedNodes())
                      .extracting(UnpreparedNode::node)
                      .isEqualTo(nodes.names()));
      assertThat(driver.status().unpreparedNodes().getFirst().reason())
          .contains("manages no persistent memory");
      assertThat(driver.status().phase()).isEqualTo("Running");

      // polled again after a minute, or by the next operator
      operator.stop();
      managed.set(1L << 30);
      operator.start();

      await().untilAsserted(() -> assertThat(driver.status().unpreparedNodes()).isEmpty());
    }
  }

  @Test
  void serverAcceptsTheWholeInstallation() {
    for (HasMetadata object :
        new OperatorInstallation(sandbox.namespace(), InstalledOperator.IMAGE).objects()) {
      InstalledOperator.apply(client, object);

      assertThat(Containment.missing(object, client.resource(object).get())).isEmpty();
      if (object instanceof Deployment) {
        client.resource(object).delete();
      }
    }
  }

  @Test
  void metricsAndHealthAreServed() throws Exception {
    driver.create(SPEC);
    driver.awaitPhase("Initializing");

    assertThat(operator.read("/healthz")).isEqualTo("ok\n");
    assertThat(operator.read("/readyz")).isEqualTo("ok\n");
    // the metrics count a reconciliation after its status is visible, and may still include the
    // resource of another test
    await()
        .untilAsserted(
            () ->
                assertThat(operator.read("/metrics"))
                    .containsPattern(
                        "(?m)^pmem_csi_operator_reconcile_duration_seconds_count\\S* [1-9]")
                    .containsPattern("(?m)^pmem_csi_operator_queue_length\\S* 0\\.0")
                    .contains("pmem_csi_deployment_reconcile{name=\"%s\"".formatted(driver.name()))
                    .contains(
                        "pmem_csi_operator_resources{kind=\"PmemCSIDeployment\",phase=\"Initializing\"}"
                            + " 1.0")
                    .contains("pmem_csi_operator_reconciles_total{kind=\"PmemCSIDeployment\"}")
                    .contains("pmem_csi_operator_objects_applied_total{kind=\"PmemCSIDeployment\"}")
                    .contains("pmem_csi_operator_objects_pruned_total{kind=\"PmemCSIDeployment\"}")
                    .containsPattern(subResource("created_at"))
                    .containsPattern(subResource("updated_at")));
  }

  private String subResource(String what) {
    return "pmem_csi_deployment_sub_resource_"
        + what
        + "\\{group=\"apps\",kind=\"DaemonSet\",name=\"%s-node\",namespace=\"[^\"]+\","
            .formatted(driver.prefix())
        + "ownedBy=\"[^\"]+\",uid=\"[^\"]+\",version=\"v1\"\\} [1-9]";
  }

  @ParameterizedTest
  @ValueSource(strings = {SPEC, OPTIONS})
  void runningDeploymentCausesNoWrites(String spec) {
    driver.create(spec);
    driver.awaitPhase("Initializing");
    operator.awaitQuiet();
    List<String> before = operator.writes();

    // a restarted operator reconciles all resources
    operator.stop();
    operator.start();
    driver.edit(resource -> resource.getMetadata().setAnnotations(Map.of("touched", "yes")));

    await().during(Duration.ofSeconds(3)).until(() -> operator.writes().equals(before));
  }

  @Test
  void serverHasTheFactsThatRenderAssumes() {
    assertThat(new ClusterProbe(client).facts(sandbox.namespace(), InstalledOperator.IMAGE))
        .isEqualTo(facts());
  }

  private ClusterFacts facts() {
    return ClusterFacts.assumed(
        KubernetesVersion.parse(sandbox.version().toString()),
        sandbox.namespace(),
        InstalledOperator.IMAGE);
  }

  @Test
  void deletedResourceLeavesNothingBehind() {
    driver.create(SPEC);
    driver.awaitPhase("Initializing");

    driver.self().delete();

    await().untilAsserted(() -> assertThat(driver.objectNames()).isEmpty());
  }

  @Test
  void obsoleteObjectsArePrunedAndThoseNotOwnedAreKept() {
    var notOwned =
        client
            .resource(
                new ConfigMapBuilder()
                    .withNewMetadata()
                    .withName("not-owned")
                    .withNamespace(sandbox.namespace())
                    .endMetadata()
                    .build())
            .create();
    operator.stop();
    PmemCSIDeployment resource = driver.create(SPEC);
    client
        .resource(
            new ConfigMapBuilder()
                .withNewMetadata()
                .withName(driver.prefix() + "-controller")
                .withNamespace(sandbox.namespace())
                .addNewOwnerReference()
                .withApiVersion(resource.getApiVersion())
                .withKind(resource.getKind())
                .withName(driver.name())
                .withUid(resource.getMetadata().getUid())
                .endOwnerReference()
                .endMetadata()
                .build())
        .create();

    operator.start();

    driver.awaitPhase("Initializing");
    await()
        .until(
            () ->
                client
                        .configMaps()
                        .inNamespace(sandbox.namespace())
                        .withName(driver.prefix() + "-controller")
                        .get()
                    == null);
    assertThat(client.resource(notOwned).get()).isNotNull();
  }
}
