package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.pmemcsi.operator.runtime.OperatorOptions;
import io.pmemcsi.operator.runtime.OperatorProgram;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.testbed.kubernetes.Definitions;
import io.pmemcsi.testbed.kubernetes.Kubectl;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files in deploy/, used as documented. */
@WithKubernetes
class InstallIT {

  private static final String NAMESPACE = "pmem-csi";

  /** The sample's, and how names of its objects begin. */
  private static final String DRIVER = "pmem-csi.intel.com";

  private static final String PREFIX = "pmem-csi-intel-com";

  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir private Path cache;

  @Test
  void filesCanBeAppliedAndAppliedAgain(Sandbox sandbox) {
    var kubectl = new Kubectl(sandbox.cluster(), Path.of(".."), cache);
    String[] install = {
      "apply", "-f", "deploy/crd", "-f", "deploy/operator/pmem-csi-operator.yaml"
    };
    sandbox.cleanUp(
        () ->
            kubectl.run("delete", "--wait=false", "-f", "deploy/operator/pmem-csi-operator.yaml"));

    String first = kubectl.run(install);
    String second = kubectl.run(install);

    assertThat(first).contains("deployment.apps/pmem-csi-operator created");
    Definitions.awaitServed(sandbox.client(), Path.of("../deploy/crd"));
    assertThat(second.lines()).hasSizeGreaterThan(10).allMatch(line -> line.endsWith("unchanged"));
    sampleIsAllThatIsMissing(sandbox, kubectl);
    // the server also accepts the files for an installation without an operator
    String files = "deploy/kubernetes-" + sandbox.version();
    assertThat(kubectl.run("apply", "--dry-run=server", "-f", files).lines())
        .hasSizeGreaterThan(10)
        .allMatch(line -> line.endsWith("(server dry run)"));
  }

  /** This JVM replaces the process of the operator pod, with the pod's service account. */
  private static void sampleIsAllThatIsMissing(Sandbox sandbox, Kubectl kubectl) {
    Pod pod = await().atMost(LIMIT).until(() -> operatorPod(sandbox), Optional::isPresent).get();
    sandbox.cleanUp(() -> Leftovers.remove(sandbox.client(), NAMESPACE, PREFIX, DRIVER));
    awaitRights(sandbox);
    try (var operator =
        OperatorProgram.start(
            sandbox.clientAs(NAMESPACE, OperatorInstallation.NAME),
            new OperatorOptions(
                Optional.empty(), Optional.empty(), Optional.empty(), true, Optional.empty()),
            InstalledOperator.environment(pod),
            Clock.systemUTC())) {
      assertThat(operator.metricsPort()).isEmpty();

      kubectl.run("apply", "-f", "deploy/samples/pmem-csi.yaml");

      await()
          .atMost(LIMIT)
          .untilAsserted(
              () -> assertThat(kubectl.run("get", "pcd", DRIVER)).contains("Initializing"));
      assertThat(image(sandbox)).isEqualTo(pod.getSpec().getContainers().getFirst().getImage());

      kubectl.run("delete", "-f", "deploy/samples/pmem-csi.yaml");
      assertThat(Leftovers.of(sandbox.client(), NAMESPACE, PREFIX, DRIVER)).isEmpty();
    }
  }

  /** One permission of each role: the authorizer observes new roles one by one. */
  private static void awaitRights(Sandbox sandbox) {
    awaitRight(sandbox, NAMESPACE, "update", "coordination.k8s.io", "leases");
    awaitRight(sandbox, "", "list", "storage.k8s.io", "csidrivers");
    awaitRight(sandbox, "default", "create", "", "events");
  }

  private static void awaitRight(
      Sandbox sandbox, String where, String verb, String group, String resource) {
    sandbox.awaitRight(NAMESPACE, OperatorInstallation.NAME, where, verb, group, resource);
  }

  private static Optional<Pod> operatorPod(Sandbox sandbox) {
    return sandbox
        .client()
        .pods()
        .inNamespace(NAMESPACE)
        .withLabel("app", OperatorInstallation.NAME)
        .list()
        .getItems()
        .stream()
        .findFirst();
  }

  private static String image(Sandbox sandbox) {
    return sandbox
        .client()
        .apps()
        .daemonSets()
        .inNamespace(NAMESPACE)
        .withName(PREFIX + "-node")
        .get()
        .getSpec()
        .getTemplate()
        .getSpec()
        .getContainers()
        .getFirst()
        .getImage();
  }
}
