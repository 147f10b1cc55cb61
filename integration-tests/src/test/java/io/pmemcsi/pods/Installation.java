package io.pmemcsi.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.readiness.Readiness;
import io.pmemcsi.standin.StandIns;
import io.pmemcsi.testbed.node.RealNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** PMEM-CSI on a node, installed with the files in {@code deploy} and the image. */
final class Installation {

  static final String DRIVER = "pmem-csi.intel.com";
  static final String NAMESPACE = "pmem-csi";

  private static final Path ROOT = Path.of("..");

  /** The image has to be read from disk, and JVMs start slowly on a busy machine. */
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private static final String DEPLOYMENT =
      """
      apiVersion: pmem-csi.intel.com/v1beta1
      kind: PmemCSIDeployment
      metadata:
        name: %s
      spec:
        deviceMode: file
        provisionerImage: %s
        nodeRegistrarImage: %s
        pmemPercentage: 50
        nodeSelector:
          storage: pmem
      """
          .formatted(DRIVER, StandIns.PROVISIONER, StandIns.REGISTRAR);

  private final RealNode node;
  private final KubernetesClient client;
  private final List<HasMetadata> applied = new ArrayList<>();

  private Installation(RealNode node) {
    this.node = node;
    this.client = node.client();
  }

  /** Installs everything and returns when the driver is running. */
  static Installation install(RealNode node, Path work) throws IOException, InterruptedException {
    StandIns.importTo(node, image(), work);
    Installation installation = new Installation(node);
    installation.apply();
    return installation;
  }

  /** The archive that {@code make image} writes; built where it is out of date. */
  private static Path image() throws IOException, InterruptedException {
    Process build =
        new ProcessBuilder(ROOT.resolve("build/image").toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String output = new String(build.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(build.waitFor()).as("exit code of build/image").isZero();
    return Path.of(output.strip());
  }

  private void apply() throws IOException {
    client
        .nodes()
        .withName(node.name())
        .edit(
            found -> {
              found.getMetadata().getLabels().put("storage", "pmem");
              return found;
            });
    applyFiles(ROOT.resolve("deploy/crd"));
    applyFiles(ROOT.resolve("deploy/operator"));
    await("ready operator").atMost(LIMIT).until(this::operatorIsReady);
    client.resource(DEPLOYMENT).create();
    await("running driver")
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(phase()).as("phase").isEqualTo("Running"));
    await("registered driver")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(client.storage().v1().csiNodes().withName(node.name()).get())
                    .extracting(csiNode -> csiNode.getSpec().getDrivers())
                    .asInstanceOf(LIST)
                    .extracting("name")
                    .containsExactly(DRIVER));
  }

  private void applyFiles(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".yaml")).sorted().toList()) {
        try (InputStream input = Files.newInputStream(file)) {
          applied.addAll(client.load(input).create());
        }
      }
    }
  }

  private boolean operatorIsReady() {
    return client
        .apps()
        .deployments()
        .inNamespace(NAMESPACE)
        .withName("pmem-csi-operator")
        .isReady();
  }

  private String phase() {
    GenericKubernetesResource found = deployment();
    Map<?, ?> status = (Map<?, ?>) found.getAdditionalProperties().get("status");
    return status == null ? "" : String.valueOf(status.get("phase"));
  }

  private GenericKubernetesResource deployment() {
    return client
        .genericKubernetesResources("pmem-csi.intel.com/v1beta1", "PmemCSIDeployment")
        .withName(DRIVER)
        .get();
  }

  /** Deletes the resource, then the operator and the definitions; returns when all are gone. */
  void uninstall() {
    client.resource(DEPLOYMENT).delete();
    await("deleted driver")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(deployment()).isNull();
              assertThat(client.storage().v1().csiDrivers().withName(DRIVER).get()).isNull();
              assertThat(driverPods()).isEmpty();
            });
    for (HasMetadata object : applied.reversed()) {
      client.resource(object).delete();
    }
    await("deleted operator")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(applied)
                    .extracting(object -> client.resource(object).get())
                    .containsOnlyNulls());
  }

  /** The names of the pods in which the driver runs. */
  List<String> driverPods() {
    return names(pod -> true);
  }

  /** Those that are ready and not being deleted. */
  List<String> readyDriverPods() {
    return names(
        pod ->
            pod.getMetadata().getDeletionTimestamp() == null
                && Readiness.getInstance().isReady(pod));
  }

  private List<String> names(Predicate<Pod> filter) {
    return client
        .pods()
        .inNamespace(NAMESPACE)
        .withLabel("app.kubernetes.io/name", "pmem-csi-node")
        .list()
        .getItems()
        .stream()
        .filter(filter)
        .map(pod -> pod.getMetadata().getName())
        .toList();
  }
}
