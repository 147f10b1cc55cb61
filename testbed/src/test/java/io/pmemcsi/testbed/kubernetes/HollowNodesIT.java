package io.pmemcsi.testbed.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

@WithKubernetes
class HollowNodesIT {

  private static final Map<String, String> LABELS = Map.of("example.com/nodes", "hollow");
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @BeforeAll
  static void startNodes(Sandbox sandbox) {
    sandbox.cleanUp(HollowNodes.start(sandbox.cluster(), 2, LABELS)::close);
  }

  @Test
  void aDaemonSetBecomesReadyOnEachNode(KubernetesClient client) {
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
                    .isEqualTo(2));
    assertThat(Path.of("/var/lib/pmem-csi-testbed"))
        .as("the pods' folder on the host, which is not that of the machine")
        .doesNotExist();
  }

  @Test
  void aDeploymentBecomesReady(KubernetesClient client) {
    client.resource(Workloads.deployment(3, LABELS)).create();

    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        client
                            .apps()
                            .deployments()
                            .withName("web")
                            .get()
                            .getStatus()
                            .getReadyReplicas())
                    .isEqualTo(3));
  }
}
