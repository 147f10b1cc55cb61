package io.pmemcsi.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.embedded.json.Json;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SimulatedControllersTest {
  private static final String DAEMON_SETS = "/apis/apps/v1/namespaces/default/daemonsets";
  private static final String DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";

  private EmbeddedKubernetes kubernetes;
  private Http http;

  @BeforeEach
  void start() {
    kubernetes =
        EmbeddedKubernetes.start(Options.usual().withSimulatedControllers(Duration.ofMillis(10)));
    http = new Http(kubernetes.url());
  }

  @AfterEach
  void stop() {
    kubernetes.close();
  }

  private void create(String path, String body) throws Exception {
    assertThat(http.send("POST", path, "application/json", body).code()).isEqualTo(201);
  }

  private static String workload(String name, String more) {
    return """
    {"metadata": {"name": "%s"}, "spec": {%s
      "selector": {"matchLabels": {"app": "x"}},
      "template": {"metadata": {"labels": {"app": "x"}}, "spec": {
        "nodeSelector": {"storage": "pmem"},
        "containers": [{"name": "c", "image": "c:1"}]}}}}
    """
        .formatted(name, more);
  }

  private JsonNode status(String path) throws Exception {
    return http.get(path).body().path("status");
  }

  @Test
  void aDaemonSetBecomesReadyOnTheNodesThatItSelects() throws Exception {
    create("/api/v1/nodes", "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"storage\":\"pmem\"}}}");
    create("/api/v1/nodes", "{\"metadata\":{\"name\":\"n2\",\"labels\":{\"storage\":\"pmem\"}}}");
    create("/api/v1/nodes", "{\"metadata\":{\"name\":\"n3\"}}");

    create(DAEMON_SETS, workload("d", ""));

    await()
        .untilAsserted(
            () -> {
              JsonNode status = status(DAEMON_SETS + "/d");
              assertThat(status.path("desiredNumberScheduled").asInt()).isEqualTo(2);
              assertThat(status.path("numberReady").asInt()).isEqualTo(2);
              assertThat(status.path("observedGeneration").asInt()).isEqualTo(1);
            });
  }

  @Test
  void aDeploymentIsReadyAgainAfterEachChange() throws Exception {
    create(DEPLOYMENTS, workload("d", "\"replicas\": 1,"));
    await().until(() -> status(DEPLOYMENTS + "/d").path("readyReplicas").asInt() == 1);

    http.send(
        "PATCH", DEPLOYMENTS + "/d", "application/merge-patch+json", "{\"spec\":{\"replicas\":3}}");

    await()
        .untilAsserted(
            () -> {
              JsonNode status = status(DEPLOYMENTS + "/d");
              assertThat(status.path("readyReplicas").asInt()).isEqualTo(3);
              assertThat(status.path("observedGeneration").asInt()).isEqualTo(2);
              assertThat(Json.text(status.path("conditions").path(0), "status")).isEqualTo("True");
            });
  }
}
