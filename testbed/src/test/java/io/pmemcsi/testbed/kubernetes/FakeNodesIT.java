package io.pmemcsi.testbed.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.testbed.process.ChildProcess;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

@WithKubernetes
class FakeNodesIT {

  private static final Map<String, String> LABELS = Map.of("example.com/nodes", "fake");
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @Test
  void theSchedulerBindsPodsToThemAndThesePodsWait(Sandbox sandbox, KubernetesClient client) {
    try (FakeNodes nodes = FakeNodes.create(sandbox.cluster(), 3, LABELS)) {
      client.resource(Workloads.deployment(6, LABELS)).create();

      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(client.pods().list().getItems())
                      .hasSize(6)
                      .allSatisfy(
                          pod -> assertThat(nodes.names()).contains(pod.getSpec().getNodeName()))
                      .extracting(pod -> pod.getStatus().getPhase())
                      .containsOnly("Pending"));
    }
  }

  @Test
  void aDaemonSetBecomesReadyOnManyOfThemAndLeavesThemAgain(
      Sandbox sandbox, KubernetesClient client) {
    try (FakeNodes nodes = FakeNodes.create(sandbox.cluster(), 30, LABELS).runPods()) {
      client.resource(Workloads.daemonSet(LABELS)).create();

      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(
                          client
                              .apps()
                              .daemonSets()
                              .withName("agent")
                              .get()
                              .getStatus()
                              .getNumberReady())
                      .isEqualTo(30));
      assertThat(client.pods().list().getItems())
          .extracting(FakeNodesIT::node)
          .containsExactlyInAnyOrderElementsOf(nodes.names());

      client.apps().daemonSets().withName("agent").delete();

      await()
          .atMost(LIMIT)
          .untilAsserted(() -> assertThat(client.pods().list().getItems()).isEmpty());
    }
  }

  @Test
  void aSchedulerOfTheTestsOwnBindsThePodsThatNameIt(Sandbox sandbox, KubernetesClient client) {
    ControlPlane plane = ownControlPlane(sandbox);
    String version = plane.version().isAtLeast(1, 25) ? "v1" : "v1beta1";
    String configuration =
        """
        apiVersion: kubescheduler.config.k8s.io/%s
        kind: KubeSchedulerConfiguration
        clientConnection: {kubeconfig: "@KUBECONFIG@"}
        leaderElection: {leaderElect: false}
        profiles:
        - schedulerName: special
        """
            .formatted(version);

    try (FakeNodes nodes = FakeNodes.create(sandbox.cluster(), 1, LABELS);
        ChildProcess scheduler = plane.startScheduler("special", configuration)) {
      assertThat(scheduler.isAlive()).isTrue();
      Deployment deployment = Workloads.deployment(1, LABELS);
      deployment.getSpec().getTemplate().getSpec().setSchedulerName("special");
      client.resource(deployment).create();

      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(client.pods().list().getItems())
                      .extracting(FakeNodesIT::node)
                      .isEqualTo(nodes.names()));
    }
  }

  private static ControlPlane ownControlPlane(Sandbox sandbox) {
    Optional<ControlPlane> plane = sandbox.cluster().controlPlane();
    assumeTrue(plane.isPresent(), "the cluster is not the tests' own");
    return plane.orElseThrow();
  }

  private static String node(Pod pod) {
    return pod.getSpec().getNodeName();
  }
}
