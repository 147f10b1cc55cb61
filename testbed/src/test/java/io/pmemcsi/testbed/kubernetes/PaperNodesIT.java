package io.pmemcsi.testbed.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

@WithKubernetes
class PaperNodesIT {

  private static final Map<String, String> LABELS = Map.of("example.com/nodes", "paper");
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @Test
  void theSchedulerBindsPodsToThemAndThesePodsWait(Sandbox sandbox, KubernetesClient client) {
    try (PaperNodes nodes = PaperNodes.create(sandbox.cluster(), 3, LABELS)) {
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
    try (PaperNodes nodes = PaperNodes.create(sandbox.cluster(), 30, LABELS).runPods()) {
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
          .extracting(PaperNodesIT::node)
          .containsExactlyInAnyOrderElementsOf(nodes.names());

      client.apps().daemonSets().withName("agent").delete();

      await()
          .atMost(LIMIT)
          .untilAsserted(() -> assertThat(client.pods().list().getItems()).isEmpty());
    }
  }

  private static String node(Pod pod) {
    return pod.getSpec().getNodeName();
  }
}
