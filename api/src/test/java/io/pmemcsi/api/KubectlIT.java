package io.pmemcsi.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.Kubectl;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kinds as users see them with kubectl. */
@WithKubernetes(controllers = false, perClass = true)
class KubectlIT {

  /** The discovery cache, separate for each server. */
  @TempDir private static Path cache;

  @BeforeAll
  static void install(Sandbox sandbox) throws IOException {
    var _ = kubectl(sandbox.cluster());
    CustomResourcesIT.install(sandbox);
  }

  @Test
  void theDefinitionsPassTheChecksOfKubectl(Cluster cluster) {
    String directory = CustomResourcesIT.knowsCel(cluster) ? "deploy/crd/with-cel" : "deploy/crd";

    String output = run(cluster, "create", "--dry-run=client", "-f", directory);

    assertThat(output.lines()).hasSize(3).allMatch(line -> line.endsWith("created (dry run)"));
  }

  @Test
  void fieldsAreExplained(Cluster cluster) {
    assertThat(explain(cluster, "pcd.spec"))
        .contains("Desired state of the driver.", "deviceMode", "Default: lvm.");
    assertThat(explain(cluster, "csidriverdeployments.status"))
        .contains("What the operator has found out about the driver.", "nodeUpdate");
  }

  /** The server publishes the schema of a kind a little later than the kind. */
  private static String explain(Cluster cluster, String path) {
    return await().ignoreExceptions().until(() -> run(cluster, "explain", path), text -> true);
  }

  /** The server would drop it silently. */
  @Test
  void aMisspeltFieldIsRefused(Cluster cluster, @TempDir Path directory) throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("misspelt.yaml"),
            """
            apiVersion: pmem-csi.intel.com/v1beta1
            kind: PmemCSIDeployment
            metadata: {name: misspelt.example.com}
            spec: {devicemode: direct}
            """);

    // with the schema, which the server publishes a little later than the kind
    await()
        .untilAsserted(
            () ->
                assertThatThrownBy(
                        () -> run(cluster, "apply", "--dry-run=server", "-f", file.toString()))
                    .hasMessageContaining("unknown field")
                    .hasMessageContaining("devicemode"));
  }

  @Test
  void theSamplesPassAndShowUp(Sandbox sandbox) {
    Cluster cluster = sandbox.cluster();
    String namespace = "--namespace=" + sandbox.namespace();
    sandbox.cleanUp(() -> run(cluster, "delete", "pcd,deployments.pmem-csi.intel.com", "--all"));

    String applied =
        run(cluster, "apply", namespace, "-f", "deploy/samples", "-f", "deploy/samples/v1alpha1");

    assertThat(applied.lines()).isNotEmpty().noneMatch(line -> line.contains("Warning"));
    assertThat(columns(run(cluster, "get", "pcd")))
        .containsExactly("NAME", "DEVICEMODE", "NODESELECTOR", "IMAGE", "STATUS", "AGE");
    assertThat(columns(run(cluster, "get", "pcd", "-o", "wide"))).endsWith("AGE", "REASON");
    assertThat(columns(run(cluster, "get", "deployments.pmem-csi.intel.com")))
        .containsExactly("NAME", "DEVICEMODE", "NODESELECTOR", "IMAGE", "STATUS", "AGE");
    assertThat(columns(run(cluster, "get", namespace, "csidriverdeployments")))
        .containsExactly("NAME", "DRIVER", "STATE", "AVAILABLE", "SYNCSUCCESSFUL", "READY", "AGE");
  }

  private static List<String> columns(String output) {
    return Arrays.asList(output.lines().findFirst().orElse("").split(" +"));
  }

  private static String run(Cluster cluster, String... arguments) {
    return kubectl(cluster).run(arguments);
  }

  private static Kubectl kubectl(Cluster cluster) {
    return new Kubectl(cluster, Path.of(".."), cache);
  }
}
