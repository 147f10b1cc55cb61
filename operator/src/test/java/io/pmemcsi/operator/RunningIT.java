package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClassBuilder;
import io.fabric8.kubernetes.client.readiness.Readiness;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.testbed.kubernetes.HollowNodes;
import io.pmemcsi.testbed.kubernetes.Kubectl;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code Running} requires pods that were scheduled and that a kubelet reports as ready. */
@WithKubernetes
class RunningIT {

  private static final Duration LIMIT = Duration.ofMinutes(3);

  @TempDir private Path cache;

  @Test
  void runningMeansThatEveryPodOfThisGenerationIsReady(Sandbox sandbox) {
    InstalledOperator.install(sandbox).start();
    var driver = new TestDriver(sandbox, "running.example.com");
    driver.create(
        "controllerTLS: {managed: true}, mutatePods: Always, deviceMode: direct,"
            + " image: \"driver:1\", nodeSelector: {test/running: \"yes\"}");
    HollowNodes nodes =
        HollowNodes.start(sandbox.cluster(), 1, Map.of("test/running", "yes")).registerDrivers();
    sandbox.cleanUp(nodes::close);

    awaitRunning(driver, 1);
    await().untilAsserted(() -> assertThat(failurePolicy(driver)).isEqualTo("Fail"));
    assertThat(pods(sandbox))
        .hasSize(2)
        .allSatisfy(pod -> assertThat(Readiness.getInstance().isReady(pod)).isTrue());

    assertShown(sandbox, driver);

    driver.setSpec(
        "controllerTLS: {managed: true}, mutatePods: Always, logLevel: 5,"
            + " nodeSelector: {test/running: \"yes\"}");

    awaitRunning(driver, 2);
    assertThat(pods(sandbox))
        .filteredOn(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .hasSize(2)
        .allSatisfy(
            pod -> assertThat(pod.getSpec().getContainers().getFirst().getArgs()).contains("-v=5"));

    losesItsPodAndItsNode(sandbox, driver, nodes);
  }

  /** The status follows the pods, also while the resource is invalid. */
  private static void losesItsPodAndItsNode(Sandbox sandbox, TestDriver driver, HollowNodes nodes) {
    nodes.losePower();
    killNodePods(sandbox);

    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(driver.status().reason()).contains("0 out of 1 driver pods are ready"));
    assertThat(driver.status().phaseOrNew()).isEqualTo("Initializing");

    driver.setSpec("controllerTLS: {managed: true}, pullPolicy: Always, imagePullPolicy: Never");
    driver.awaitPhase("Failed");
    assertThat(nodeReason(driver)).contains("0 out of 1 driver pods are ready");

    nodes.names().forEach(name -> sandbox.client().nodes().withName(name).delete());
    // Kubernetes would do so itself, after a while
    killNodePods(sandbox);
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(nodeReason(driver))
                    .contains("No node has the labels {test/running=yes}"));
    assertThat(driver.status().phaseOrNew()).isEqualTo("Failed");

    driver.daemonSet().delete();
    await()
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(nodeReason(driver)).contains("has not started yet"));
    assertThat(driver.daemonSet().get()).as("nothing is written while Failed").isNull();

    driver.setSpec("nodeSelector: {test/running: \"yes\"}");
    driver.awaitPhase("Initializing");
    assertThat(driver.daemonSet().get()).isNotNull();
  }

  private static void killNodePods(Sandbox sandbox) {
    sandbox
        .client()
        .pods()
        .inNamespace(sandbox.namespace())
        .withLabel("app.kubernetes.io/name", "pmem-csi-node")
        .withGracePeriod(0)
        .delete();
  }

  private static String nodeReason(TestDriver driver) {
    return driver.status().component("Node").map(DriverComponent::reason).orElse("");
  }

  /** If no node can take the controller, the status must not be Running. */
  @Test
  void unschedulableControllerPodIsReported(Sandbox sandbox) {
    InstalledOperator.install(sandbox).start();
    var driver = new TestDriver(sandbox, "unschedulable.example.com");
    driver.create(
        "controllerTLS: {managed: true}, mutatePods: Always,"
            + " controllerDriverResources: {requests: {cpu: \"100000\"}}");

    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(driver.status().component("Controller").map(DriverComponent::reason))
                    .hasValueSatisfying(
                        reason ->
                            assertThat(reason)
                                .contains("0 of 1 replicas are ready")
                                .contains("has no node")));
    assertThat(driver.status().phaseOrNew()).isEqualTo("Initializing");
    assertThat(failurePolicy(driver))
        .as("pods of other users must not wait for it")
        .isEqualTo("Ignore");
  }

  /** The class may also come later than the resource. */
  @Test
  void missingPriorityClassIsReported(Sandbox sandbox) {
    InstalledOperator.install(sandbox).start();
    HollowNodes nodes =
        HollowNodes.start(sandbox.cluster(), 1, Map.of("test/priority", "yes")).registerDrivers();
    sandbox.cleanUp(nodes::close);
    var driver = new TestDriver(sandbox, "priority.example.com");
    driver.create(
        "nodeSelector: {test/priority: \"yes\"}, nodePods: {priorityClassName: pmem-test-class}");

    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(nodeReason(driver))
                    .endsWith(
                        "; pods cannot be created: no PriorityClass with name pmem-test-class was"
                            + " found. Create the PriorityClass, or correct"
                            + " priorityClassName."));

    PriorityClass later =
        sandbox
            .client()
            .resource(
                new PriorityClassBuilder()
                    .withNewMetadata()
                    .withName("pmem-test-class")
                    .endMetadata()
                    .withValue(1000)
                    .build())
            .create();
    sandbox.cleanUp(() -> sandbox.client().resource(later).delete());
    awaitRunning(driver, 1);
  }

  /** What an administrator sees. */
  private void assertShown(Sandbox sandbox, TestDriver driver) {
    var kubectl = new Kubectl(sandbox.cluster(), Path.of(".."), cache);
    await().untilAsserted(() -> assertThat(driver.events()).contains("NewDeployment", "Running"));

    assertThat(kubectl.run("get", "pcd", driver.name()))
        .matches(
            "NAME +DEVICEMODE +NODESELECTOR +IMAGE +STATUS +AGE *\n"
                + driver.name()
                + " +direct +\\{\"test/running\":\"yes\"} +driver:1 +Running +\\S+ *\n?");
    assertThat(kubectl.run("describe", "pcd", driver.name()).replaceAll(" +", " "))
        .contains("Type: CertsVerified")
        .contains("Type: CertsReady")
        .contains("Type: DriverDeployed")
        .contains("Component: Controller")
        .contains("Component: Node")
        .contains("Reason: All 1 node driver pod(s) running successfully")
        .contains("Phase: Running")
        .contains("Reason: All driver components are deployed successfully")
        .containsPattern("Normal NewDeployment \\S+ pmem-csi-operator \\w+")
        .containsPattern("Normal Running \\S+ pmem-csi-operator Driver deployment successful");
  }

  private static String failurePolicy(TestDriver driver) {
    return driver
        .sandbox()
        .client()
        .admissionRegistration()
        .v1()
        .mutatingWebhookConfigurations()
        .withName(driver.prefix() + "-hook")
        .get()
        .getWebhooks()
        .getFirst()
        .getFailurePolicy();
  }

  private static void awaitRunning(TestDriver driver, long generation) {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              var status = driver.status();
              assertThat(status.observedGeneration()).isEqualTo(generation);
              assertThat(status.phaseOrNew()).as(status.toString()).isEqualTo("Running");
            });
  }

  private static List<Pod> pods(Sandbox sandbox) {
    return sandbox.client().pods().inNamespace(sandbox.namespace()).list().getItems();
  }
}
