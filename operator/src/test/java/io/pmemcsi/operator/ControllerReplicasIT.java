package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.testbed.kubernetes.Certificates;
import io.pmemcsi.testbed.kubernetes.Clients;
import io.pmemcsi.testbed.kubernetes.HollowNodes;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A controller with two replicas on two hollow nodes, of which not both may be lost unnoticed. */
@WithKubernetes
class ControllerReplicasIT {

  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final Map<String, String> IGNORE = Map.of("pmem-csi.intel.com/webhook", "ignore");

  /** No node has these labels: the driver itself does not matter here. */
  private static final String SPEC =
      "controllerReplicas: 2, mutatePods: Always, nodeSelector: {test/replicas: none}, ";

  private static final String INVALID = "pullPolicy: Always, imagePullPolicy: Never, ";

  private Sandbox sandbox;
  private KubernetesClient client;
  private InstalledOperator operator;
  private TestDriver driver;
  private HollowNodes nodes;

  @BeforeEach
  void start(Sandbox sandbox) {
    this.sandbox = sandbox;
    client = sandbox.client();
    operator = InstalledOperator.install(sandbox);
    driver = new TestDriver(sandbox, "replicas.example.com");
    nodes = HollowNodes.start(sandbox.cluster(), 2, Map.of());
    sandbox.cleanUp(nodes::close);
  }

  @Test
  void drainsEvictOneReplicaAtATime() {
    operator.start();
    driver.create(SPEC + "controllerTLS: {managed: true}");
    await("a budget that allows one disruption")
        .atMost(LIMIT)
        .until(
            () ->
                budgets().stream()
                    .anyMatch(
                        budget ->
                            Integer.valueOf(1).equals(budget.get("status", "disruptionsAllowed"))));
    List<Pod> replicas = replicas();
    assertThat(replicas).hasSize(2);
    assertThat(replicas).extracting(pod -> pod.getSpec().getNodeName()).doesNotHaveDuplicates();

    evict(replicas.getFirst());

    assertThatThrownBy(() -> evict(replicas.getLast()))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("disruption budget");
    driver.setSpec(
        SPEC.replace("controllerReplicas: 2", "controllerReplicas: 1")
            + "controllerTLS: {managed: true}");
    await("a single replica has none").atMost(LIMIT).until(() -> budgets().isEmpty());
  }

  @Test
  void aCertificateThatCannotBeUsedTakesTheRightToRefusePodsBack() {
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    Instant served = now.plus(Duration.ofMinutes(10));
    Instant end = served.plusSeconds(10);
    var time = new AtomicReference<>(now);
    operator.withClock(new FakeClock(time::get)).start();
    var authority = new Certificates("mine");
    String name = driver.prefix() + "-scheduler." + sandbox.namespace() + ".svc";
    client.resource(secret(authority, authority.issue("CN=controller", name))).create();
    driver.create(SPEC + "controllerTLSSecret: mine");
    awaitPolicy("Fail");

    client
        .resource(secret(authority, authority.issue("CN=controller", "other.example.com")))
        .update();
    awaitPolicy("Ignore");
    await()
        .untilAsserted(
            () ->
                assertThat(driver.condition("CertsVerified").map(DeploymentCondition::status))
                    .hasValue("False"));

    Instant begin = now.minus(Duration.ofHours(1));
    client.resource(secret(authority, authority.issue("CN=controller", begin, end, name))).update();
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(driver.condition("CertsVerified").map(DeploymentCondition::status))
                    .hasValue("True"));
    assertThat(failurePolicy()).as("pods may serve the certificate of before").hasValue("Ignore");

    time.set(served);
    driver.setSpec(SPEC + "controllerTLSSecret: mine, logLevel: 4");
    awaitPolicy("Fail");

    // an invalid resource is not managed, but must not stop the creation of pods
    driver.setSpec(SPEC + INVALID + "controllerTLSSecret: mine");
    driver.awaitPhase("Failed");
    assertThat(failurePolicy()).hasValue("Fail");
    time.set(end.plusSeconds(1));
    driver.setSpec(SPEC + INVALID + "controllerTLSSecret: mine, logLevel: 4");
    awaitPolicy("Ignore");
    driver.setSpec(SPEC + "controllerTLSSecret: mine");
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(driver.status().reason())
                    .contains("controllerTLSSecret")
                    .contains("expired"));
    assertThat(failurePolicy()).hasValue("Ignore");
  }

  @Test
  void podsThatIgnoreTheWebhookAreCreatedWhileBothReplicasAreLost() {
    operator.start();
    driver.create(SPEC + "controllerTLS: {managed: true}");
    awaitPolicy("Fail");
    nodes.losePower();
    client
        .pods()
        .inNamespace(sandbox.namespace())
        .withLabel("app.kubernetes.io/component", "controller")
        .withGracePeriod(0)
        .delete();

    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(driver.status().component("Controller").map(DriverComponent::reason))
                    .hasValueSatisfying(
                        reason -> assertThat(reason).contains("0 of 2 replicas are ready")));
    assertThat(driver.status().phaseOrNew()).isEqualTo("Initializing");
    assertThatThrownBy(() -> dryRun(pod(sandbox.namespace(), Map.of())))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("pod-hook.pmem-csi.intel.com");
    assertThat(dryRun(pod(sandbox.namespace(), IGNORE))).isNotNull();
    String ignored = sandbox.namespace() + "-ignored";
    sandbox.create(
        new NamespaceBuilder()
            .withNewMetadata()
            .withName(ignored)
            .withLabels(IGNORE)
            .endMetadata()
            .build());
    await("an account in the namespace")
        .until(
            () -> client.serviceAccounts().inNamespace(ignored).withName("default").get() != null);
    assertThat(dryRun(pod(ignored, Map.of()))).isNotNull();
  }

  private void awaitPolicy(String policy) {
    await(policy).atMost(LIMIT).untilAsserted(() -> assertThat(failurePolicy()).hasValue(policy));
  }

  private Optional<String> failurePolicy() {
    return Optional.ofNullable(
            client
                .admissionRegistration()
                .v1()
                .mutatingWebhookConfigurations()
                .withName(driver.prefix() + "-hook")
                .get())
        .map(found -> found.getWebhooks().getFirst().getFailurePolicy());
  }

  private List<Pod> replicas() {
    return client
        .pods()
        .inNamespace(sandbox.namespace())
        .withLabel("app.kubernetes.io/component", "controller")
        .list()
        .getItems();
  }

  private List<GenericKubernetesResource> budgets() {
    return client
        .genericKubernetesResources(
            sandbox.version().isAtLeast(1, 21) ? "policy/v1" : "policy/v1beta1",
            "PodDisruptionBudget")
        .inNamespace(sandbox.namespace())
        .list()
        .getItems();
  }

  /** As {@code kubectl drain} does it. */
  private void evict(Pod pod) {
    var _ =
        once(
            withoutRetries ->
                withoutRetries.raw(
                    "/api/v1/namespaces/%s/pods/%s/eviction"
                        .formatted(sandbox.namespace(), pod.getMetadata().getName()),
                    "POST",
                    Map.of(
                        "apiVersion",
                        sandbox.version().isAtLeast(1, 22) ? "policy/v1" : "policy/v1beta1",
                        "kind",
                        "Eviction",
                        "metadata",
                        Map.of(
                            "name",
                            pod.getMetadata().getName(),
                            "namespace",
                            sandbox.namespace()))));
  }

  private Pod dryRun(Pod pod) {
    return once(withoutRetries -> withoutRetries.resource(pod).dryRun().create());
  }

  /** Does not repeat refused requests, and waits longer than the API server for a webhook. */
  private <T> T once(Function<KubernetesClient, T> request) {
    Config config =
        new ConfigBuilder(client.getConfiguration())
            .withRequestTimeout((int) Duration.ofMinutes(1).toMillis())
            .withRequestRetryBackoffLimit(0)
            .build();
    try (KubernetesClient withoutRetries = Clients.to(config).build()) {
      return request.apply(withoutRetries);
    }
  }

  private static Pod pod(String namespace, Map<String, String> labels) {
    return new PodBuilder()
        .withNewMetadata()
        .withName("plain")
        .withNamespace(namespace)
        .withLabels(labels)
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("main")
        .withImage("registry.example.com/app:1")
        .endContainer()
        .endSpec()
        .build();
  }

  private Secret secret(Certificates authority, Certificates.Issued issued) {
    Secret secret = TlsSecrets.of(sandbox.namespace(), "mine", authority);
    secret.getData().put("tls.crt", TlsSecrets.encoded(issued.certificatePem()));
    secret.getData().put("tls.key", TlsSecrets.encoded(issued.keyPem()));
    return secret;
  }
}
