package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.testbed.kubernetes.FakeNodes;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Several resources, and several operators, at once. */
@WithKubernetes
class ManyDeploymentsIT {

  private Sandbox sandbox;
  private KubernetesClient client;

  @BeforeEach
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    this.client = sandbox.client();
  }

  /** By the operator, which still runs. */
  @AfterEach
  void deleteAll() {
    client.resources(PmemCSIDeployment.class).delete();
    await()
        .atMost(Duration.ofMinutes(6))
        .until(() -> client.resources(PmemCSIDeployment.class).list().getItems().isEmpty());
    // the operator deletes DaemonSets in the foreground, and no kubelet ends pods on fake nodes
    await()
        .untilAsserted(
            () -> {
              client.pods().inNamespace(sandbox.namespace()).withGracePeriod(0).delete();
              assertThat(
                      client.apps().daemonSets().inNamespace(sandbox.namespace()).list().getItems())
                  .isEmpty();
            });
  }

  /** Each on a node of its own. */
  @Test
  void fiftyResourcesBecomeRunningCauseNoMoreWritesAndAreDeletedAtOnce() {
    InstalledOperator operator = InstalledOperator.install(sandbox).start();
    try (var nodes =
        FakeNodes.create(sandbox.cluster(), 50, Map.of()).runPods().registerDrivers()) {
      nodes.names().forEach(node -> label(node, "many/" + node, "yes"));

      nodes.names().forEach(node -> create(node + ".example.com", "many/" + node));

      await()
          .atMost(Duration.ofMinutes(6))
          .untilAsserted(
              () ->
                  assertThat(client.resources(PmemCSIDeployment.class).list().getItems())
                      .hasSize(50)
                      .allSatisfy(
                          resource ->
                              assertThat(resource.getStatus().phaseOrNew())
                                  .as(resource.getStatus().reason())
                                  .isEqualTo("Running")));
      assertThat(client.apps().daemonSets().inNamespace(sandbox.namespace()).list().getItems())
          .hasSize(100);
      await()
          .until(
              () -> {
                int before = operator.writes().size();
                Thread.sleep(3000);
                return operator.writes().size() == before;
              });
      // delete them before the nodes, whose kubelets terminate the pods
      deleteAll();
    }
  }

  @Test
  void driversOnTheSameNodesGetAWarningWithTheOthersName() {
    InstalledOperator.install(sandbox).start();
    create("one.example.com", "test/one");
    create("two.example.com", "test/two");

    try (var nodes =
        FakeNodes.create(sandbox.cluster(), 1, Map.of("test/one", "yes", "test/two", "yes"))) {
      String node = nodes.names().getFirst();
      await()
          .untilAsserted(
              () -> {
                assertThat(message("one.example.com"))
                    .contains("\"two.example.com\" selects the same nodes: " + node);
                assertThat(message("two.example.com"))
                    .contains("\"one.example.com\" selects the same nodes: " + node);
              });

      // a third one, on nodes that others share
      create("three.example.com", "test/one");
      await()
          .untilAsserted(
              () -> {
                assertThat(message("one.example.com")).contains("three", "two");
                assertThat(message("two.example.com")).contains("one", "three");
                assertThat(message("three.example.com")).contains("one", "two");
              });

      // it moves to another node; its other errors do not matter here
      Edits.edit(
          client.resources(PmemCSIDeployment.class).withName("three.example.com"),
          resource -> {
            resource.setSpec(
                PmemResource.of(
                        "three.example.com",
                        "nodeSelector: {test/three: \"yes\"},"
                            + " pullPolicy: Always, imagePullPolicy: Never")
                    .getSpec());
            return resource;
          });
      awaitExclusive("three.example.com");
      assertThat(status("three.example.com").phase()).isEqualTo("Failed");
      await()
          .untilAsserted(
              () -> assertThat(message("one.example.com")).contains("two").doesNotContain("three"));

      // the node goes to another driver, and back
      label(node, "test/two", "no");
      awaitExclusive("one.example.com");
      awaitExclusive("two.example.com");
      label(node, "test/two", "yes");
      await().untilAsserted(() -> assertThat(message("one.example.com")).contains("two"));

      client.resources(PmemCSIDeployment.class).withName("two.example.com").delete();
      // no kubelet ends the pods
      await()
          .untilAsserted(
              () -> {
                client.pods().inNamespace(sandbox.namespace()).withGracePeriod(0).delete();
                assertThat(
                        client.resources(PmemCSIDeployment.class).withName("two.example.com").get())
                    .isNull();
              });

      awaitExclusive("one.example.com");
    }
  }

  private void label(String node, String key, String value) {
    Edits.edit(
        client.nodes().withName(node),
        object -> {
          object.getMetadata().getLabels().put(key, value);
          return object;
        });
  }

  private void awaitExclusive(String name) {
    await(name)
        .untilAsserted(
            () -> assertThat(exclusive(name).map(DeploymentCondition::status)).contains("True"));
  }

  @Test
  void standbyReplicaTakesOverFromTheLeader() {
    InstalledOperator first = InstalledOperator.install(sandbox).startReplica();
    create("lead.example.com", "none/lead");
    awaitMade("lead-example-com-node");
    InstalledOperator second = InstalledOperator.install(sandbox).startReplica();

    create("next.example.com", "none/next");
    awaitMade("next-example-com-node");
    assertThat(second.writes()).noneMatch(write -> write.contains("daemonsets"));

    first.stop();
    create("third.example.com", "none/third");

    awaitMade("third-example-com-node");
    assertThat(second.writes()).anyMatch(write -> write.contains("daemonsets"));
  }

  private void awaitMade(String daemonSet) {
    await()
        .until(
            () ->
                client
                        .apps()
                        .daemonSets()
                        .inNamespace(sandbox.namespace())
                        .withName(daemonSet)
                        .get()
                    != null);
  }

  private Optional<DeploymentCondition> exclusive(String name) {
    return status(name).condition("NodesExclusive");
  }

  private PmemCSIDeploymentStatus status(String name) {
    return client.resources(PmemCSIDeployment.class).withName(name).get().getStatus();
  }

  private String message(String name) {
    return exclusive(name).map(DeploymentCondition::message).orElse("");
  }

  private void create(String name, String label) {
    client.resource(PmemResource.of(name, "nodeSelector: {%s: \"yes\"}".formatted(label))).create();
  }
}
