package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.readiness.Readiness;
import io.pmemcsi.testbed.kubernetes.FakeNodes;
import io.pmemcsi.testbed.kubernetes.Kubectl;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Applies the documented examples and our samples unchanged. Uses fake nodes: the kubelet of hollow
 * nodes does not support hostPath volumes, so driver pods would never start there.
 */
@WithKubernetes(perClass = true)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TemplateSamplesIT {

  private Sandbox sandbox;

  @TempDir private Path cache;

  @BeforeAll
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    InstalledOperator.install(sandbox).start();
    sandbox.cleanUp(FakeNodes.create(sandbox.cluster(), 2, Map.of()).runPods()::close);
  }

  /**
   * Applies a file, and nothing else.
   *
   * @param node how many containers each pod on the nodes has
   * @param controller how many each of the controller has, nothing without one
   */
  @ParameterizedTest
  @CsvSource({
    "src/test/resources/resources/template/documented.yaml,csi-hostpath,2 2,3",
    "src/test/resources/resources/template/documented-hostpath.yaml,hostpath,3 3,4",
    "../deploy/samples/hostpath.yaml,hostpath,4 4,",
    "../deploy/samples/nfs.yaml,nfs,2 2,3 3",
    "../deploy/samples/aws-ebs.yaml,aws-ebs,2 2,4 4",
    "../deploy/samples/gallery/azure-disk.yaml,azure-disk,3 3,5 5",
    "../deploy/samples/gallery/ceph-rbd.yaml,ceph-rbd,2 2,4 4",
    "../deploy/samples/gallery/cinder.yaml,cinder,3 3,5 5",
    "../deploy/samples/gallery/gcp-pd.yaml,gcp-pd,2 2,4 4",
    "../deploy/samples/gallery/smb.yaml,smb,3 3,4"
  })
  void sampleBecomesAvailableAndIsDeleted(
      Path file, String name, String node, @Nullable String controller) throws IOException {
    var driver = new TemplateResource(sandbox.client(), sandbox.namespace(), name);
    createAccount(file, name);

    new Kubectl(sandbox.cluster(), Path.of("."), cache)
        .run("--namespace=" + sandbox.namespace(), "apply", "-f", file.toString());

    driver.awaitSynced();
    driver.awaitAvailable();
    assertThat(readyContainers(name + "-node")).isEqualTo(node);
    assertThat(readyContainers(name + "-controller"))
        .isEqualTo(Objects.requireNonNullElse(controller, ""));
    driver.delete();
    await().untilAsserted(() -> assertThat(driver.objectNames()).isEmpty());
    // another sample has the same name: do not count its pods
    await()
        .untilAsserted(
            () -> assertThat(sandbox.client().pods().list().getItems()).as("pods").isEmpty());
  }

  /** What kubectl shows in the column READY, by pod of a workload. */
  private String readyContainers(String workload) {
    return sandbox.client().pods().inNamespace(sandbox.namespace()).list().getItems().stream()
        .filter(pod -> pod.getMetadata().getName().startsWith(workload + "-"))
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .filter(Readiness::isPodReady)
        .map(pod -> String.valueOf(pod.getSpec().getContainers().size()))
        .collect(Collectors.joining(" "));
  }

  /** The prerequisites of a sample, in the namespace of the test. */
  private void createAccount(Path sample, String name) throws IOException {
    Path file = sample.resolveSibling("accounts").resolve(name + ".yaml");
    if (Files.exists(file)) {
      String yaml =
          Files.readString(file)
              .replaceAll(
                  "namespace: (default|%s)".formatted(name), "namespace: " + sandbox.namespace());
      sandbox
          .client()
          .load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
          .items()
          .forEach(sandbox::create);
    }
  }
}
