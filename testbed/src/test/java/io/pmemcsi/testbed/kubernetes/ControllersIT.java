package io.pmemcsi.testbed.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

@WithKubernetes
class ControllersIT {

  private static final Map<String, String> NOWHERE = Map.of("example.com/nowhere", "true");
  private static final Duration LIMIT = Duration.ofMinutes(3);

  @Test
  void aDeploymentGetsPodsAndTakesThemAlongWhenItGoes(KubernetesClient client) {
    client.resource(Workloads.deployment(2, NOWHERE)).create();

    await()
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(client.pods().list().getItems()).hasSize(2));

    client.apps().deployments().withName("web").delete();

    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(client.apps().replicaSets().list().getItems()).isEmpty();
              assertThat(client.pods().list().getItems()).isEmpty();
            });
  }

  @Test
  void theSchedulerSaysThatThereIsNoNode(KubernetesClient client) {
    client.resource(Workloads.deployment(2, NOWHERE)).create();

    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(client.pods().list().getItems())
                    .flatExtracting(pod -> pod.getStatus().getConditions())
                    .anySatisfy(
                        condition -> {
                          assertThat(condition.getReason()).isEqualTo("Unschedulable");
                          assertThat(condition.getMessage()).contains("nodes");
                        }));
  }
}
