package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.operator.install.OperatorInstallation;
import io.pmemcsi.testbed.kubernetes.Kubectl;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files in deploy/, as the documents tell an administrator to use them. */
@WithKubernetes
class InstallIT {

  private static final String NAMESPACE = "pmem-csi";

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
    assertThat(second.lines()).hasSizeGreaterThan(10).allMatch(line -> line.endsWith("unchanged"));
    // the pod that the file asks for may do what its account may
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () ->
                assertThat(
                        sandbox
                            .client()
                            .pods()
                            .inNamespace(NAMESPACE)
                            .withLabel("app", OperatorInstallation.NAME)
                            .list()
                            .getItems())
                    .isNotEmpty());
    assertThat(
            kubectl.run(
                "auth",
                "can-i",
                "--as=system:serviceaccount:" + NAMESPACE + ":" + OperatorInstallation.NAME,
                "create",
                "csidrivers.storage.k8s.io"))
        .contains("yes");
    // without an operator: what the files for this version hold is accepted, too
    String files = "deploy/kubernetes-" + sandbox.version();
    assertThat(kubectl.run("apply", "--dry-run=server", "-f", files).lines())
        .hasSizeGreaterThan(10)
        .allMatch(line -> line.endsWith("(server dry run)"));
  }
}
