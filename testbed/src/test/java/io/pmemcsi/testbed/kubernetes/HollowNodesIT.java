package io.pmemcsi.testbed.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@WithKubernetes
class HollowNodesIT {

  private static final Map<String, String> LABELS = Map.of("example.com/nodes", "hollow");
  private static final Duration LIMIT = Duration.ofMinutes(2);

  /**
   * From a program below the machine's /tmp, where a cache may lie: that is hidden from the nodes,
   * which have one of their own. Everywhere else they run from the usual directory.
   */
  @BeforeAll
  static void startNodes(Sandbox sandbox, @TempDir Path directory) throws IOException {
    assertThat(directory).startsWith(Path.of("/tmp"));
    for (String unused : List.of("etcd", "kube-apiserver")) {
      Files.createFile(
          directory.resolve(unused),
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    Path program = Files.createDirectory(directory.resolve("programs")).resolve("kubemark");
    Optional<Path> kubemark = Binaries.find().find("kubemark");
    if (kubemark.isPresent()) { // else the start below says that it is needed, and skips
      Files.copy(kubemark.get(), program, StandardCopyOption.COPY_ATTRIBUTES);
      Files.createSymbolicLink(directory.resolve("kubemark"), program);
    }
    Binaries binaries = Binaries.find(Map.of("KUBEBUILDER_ASSETS", directory.toString()));
    sandbox.cleanUp(HollowNodes.start(sandbox.cluster(), binaries, 2, LABELS)::close);
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
        .as("the pods' directory on the host, which is not that of the machine")
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
