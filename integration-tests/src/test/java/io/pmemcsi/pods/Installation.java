package io.pmemcsi.pods;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.readiness.Readiness;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.pmemcsi.standin.StandIns;
import io.pmemcsi.testbed.node.RealNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The operator on a node, installed with the files in {@code deploy} and the image. */
final class Installation {

  static final String DRIVER = "pmem-csi.intel.com";
  static final String NAMESPACE = "pmem-csi";

  static final Path ROOT = Path.of("..");

  /** The image has to be read from disk, and JVMs start slowly on a busy machine. */
  static final Duration LIMIT = Duration.ofMinutes(5);

  private final RealNode node;
  private final KubernetesClient client;
  private final List<HasMetadata> applied = new ArrayList<>();

  private Installation(RealNode node) {
    this.node = node;
    this.client = node.client();
  }

  /**
   * Installs the operator and returns when it is ready.
   *
   * @param logLevel of the operator
   */
  static Installation install(RealNode node, Path work, int logLevel)
      throws IOException, InterruptedException {
    importImages(node, work);
    Installation installation = new Installation(node);
    installation.applyFiles(ROOT.resolve("deploy/crd"), yaml -> yaml);
    installation.applyFiles(
        ROOT.resolve("deploy/operator"), yaml -> yaml.replace("- -v=3", "- -v=" + logLevel));
    await("ready operator").atMost(LIMIT).until(installation::operatorIsReady);
    return installation;
  }

  /** Imports the images of the driver and of the stand-ins, and labels the node for drivers. */
  static void importImages(RealNode node, Path work) throws IOException, InterruptedException {
    StandIns.importTo(node, image(), work);
    node.client()
        .nodes()
        .withName(node.name())
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\": {\"labels\": {\"storage\": \"pmem\"}}}");
  }

  /** The archive that {@code make image} writes; built where it is out of date. */
  static Path image() throws IOException, InterruptedException {
    Process build =
        new ProcessBuilder(ROOT.resolve("build/image").toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String output = new String(build.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(build.waitFor()).as("exit code of build/image").isZero();
    return Path.of(output.strip());
  }

  /**
   * A sample, except that there is neither PMEM nor a registry for sidecars.
   *
   * @param file below {@code deploy/samples}
   * @param more further lines of its {@code spec}
   */
  static String sample(String file, String... more) {
    String spec =
        """
          deviceMode: file
          provisionerImage: %s
          nodeRegistrarImage: %s
          pmemPercentage: 50
        """
                .formatted(StandIns.PROVISIONER, StandIns.REGISTRAR)
            + Stream.of(more).map("  %s\n"::formatted).collect(Collectors.joining());
    return read(ROOT.resolve("deploy/samples").resolve(file)).replace("  deviceMode: lvm\n", spec);
  }

  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }

  private void applyFiles(Path directory, UnaryOperator<String> change) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".yaml")).sorted().toList()) {
        applied.addAll(client.resourceList(change.apply(read(file))).create());
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

  /** Creates a resource and returns when its driver is running. */
  void run(String resource) {
    client.resource(resource).create();
    awaitRunning(resource);
    awaitRegistered(node);
  }

  /** Replaces fields of a resource, as {@code kubectl apply} does. */
  void change(String resource) {
    client.resource(resource).patch(PatchContext.of(PatchType.JSON_MERGE));
  }

  void awaitRunning(String resource) {
    await("running driver")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(status(resource).get("phase"))
                    .as("phase in %s; pods: %s", status(resource), podStatuses())
                    .isEqualTo("Running"));
  }

  static void awaitRegistered(RealNode node) {
    await("registered driver")
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(node.client().storage().v1().csiNodes().withName(node.name()).get())
                    .extracting(csiNode -> csiNode.getSpec().getDrivers())
                    .asInstanceOf(LIST)
                    .extracting("name")
                    .containsExactly(DRIVER));
  }

  /** What the operator reports about a resource. */
  Map<?, ?> status(String resource) {
    GenericKubernetesResource found = find(resource);
    return found.getAdditionalProperties().get("status") instanceof Map<?, ?> status
        ? status
        : Map.of();
  }

  private GenericKubernetesResource find(String resource) {
    var desired = Serialization.unmarshal(resource, GenericKubernetesResource.class);
    return client
        .genericKubernetesResources(desired.getApiVersion(), desired.getKind())
        .withName(desired.getMetadata().getName())
        .get();
  }

  /** Runs the command line on the host and returns what it prints. */
  String pmemCsi(List<Integer> allowed, String... arguments)
      throws IOException, InterruptedException {
    var command =
        Stream.concat(Stream.of(ROOT.resolve("bin/pmem-csi").toString()), Stream.of(arguments))
            .toList();
    var builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().put("KUBECONFIG", node.cluster().kubeconfig().toString());
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as("exit code of %s", command).isIn(allowed);
    return output;
  }

  private List<?> podStatuses() {
    return client.pods().inNamespace(NAMESPACE).list().getItems().stream()
        .map(Pod::getStatus)
        .toList();
  }

  /** Deletes a resource and returns when its driver is deleted. */
  void delete(String resource) {
    client.resource(resource).delete();
    await("deleted driver")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(find(resource)).isNull();
              assertThat(client.storage().v1().csiDrivers().withName(DRIVER).get()).isNull();
              assertThat(controllerPods()).isEmpty();
              assertThat(driverPods()).isEmpty();
            });
  }

  /** Deletes the operator and the definitions; returns when all are deleted. */
  void uninstall() {
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
    return names(_ -> true);
  }

  /** Those that are ready and not being deleted. */
  List<String> readyDriverPods() {
    return names(Installation::isReady);
  }

  static boolean isReady(Pod pod) {
    return pod.getMetadata().getDeletionTimestamp() == null && Readiness.getInstance().isReady(pod);
  }

  /** The pods of the controller. */
  List<Pod> controllerPods() {
    return pods("pmem-csi-controller");
  }

  private List<String> names(Predicate<Pod> filter) {
    return pods("pmem-csi-node").stream()
        .filter(filter)
        .map(pod -> pod.getMetadata().getName())
        .toList();
  }

  private List<Pod> pods(String name) {
    return client
        .pods()
        .inNamespace(NAMESPACE)
        .withLabel("app.kubernetes.io/name", name)
        .list()
        .getItems();
  }
}
