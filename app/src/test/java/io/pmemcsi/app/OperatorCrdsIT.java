package io.pmemcsi.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.testbed.kubernetes.Binaries;
import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.ControlPlane;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The operator as a process of its own, started as a developer starts it, on an API server that
 * gets its CRDs one after the other. Other tests share a server that has all of them.
 */
class OperatorCrdsIT {

  private static final Path DEFINITIONS = Path.of("../deploy/crd");
  private static final Duration LIMIT = Duration.ofMinutes(4);
  private static final ResourceDefinitionContext TEMPLATES =
      context("csidriver.storage.openshift.io", "v1alpha1", "CSIDriverDeployment", true);
  private static final ResourceDefinitionContext PMEM =
      context("pmem-csi.intel.com", "v1beta1", "PmemCSIDeployment", false);
  private static final String DRIVER = "late.example.com";
  private static final String PMEM_DRIVER =
      """
      apiVersion: pmem-csi.intel.com/v1beta1
      kind: PmemCSIDeployment
      metadata: {name: %s}
      """
          .formatted(DRIVER);

  @TempDir private Path directory;
  private Cluster cluster;
  private KubernetesClient client;
  private @Nullable Process operator;

  @BeforeEach
  void start() {
    cluster = Cluster.of(ControlPlane.start(Binaries.find()));
    client = cluster.admin();
  }

  private void start(Map<String, String> environment, String program, String... arguments)
      throws IOException {
    var command = new ArrayList<String>();
    command.add(Path.of("../bin", program).toAbsolutePath().normalize().toString());
    command.addAll(List.of(arguments));
    var builder =
        new ProcessBuilder(command)
            .redirectOutput(directory.resolve("out").toFile())
            .redirectError(directory.resolve("err").toFile());
    builder.environment().putAll(environment);
    operator = builder.start();
  }

  @AfterEach
  void end() {
    if (operator != null) {
      operator.destroyForcibly().onExit().join();
    }
    cluster.close();
  }

  /** The command with which the first operator for drivers from templates was debugged. */
  @Test
  void theFirstCommandForDriversFromTemplatesStillWorks() throws Exception {
    install("csidriver.storage.openshift.io_csidriverdeployments.yaml");

    start(
        Map.of(),
        "csi-operator",
        "-v",
        "5",
        "-alsologtostderr",
        "-kubeconfig=" + cluster.kubeconfig());

    create(TEMPLATES, template("one", "one.example.com"));
    awaitStatus(TEMPLATES, "one", "\"type\":\"SyncSuccessful\"", "\"status\":\"True\"");
  }

  /** One CRD and the operator's file is all that was applied for earlier releases. */
  @Test
  void itsOwnAccountIsEnoughWhereOnlyOneCrdIsInstalled() throws Exception {
    install("pmem-csi.intel.com_pmemcsideployments.yaml");
    try (var sandbox = cluster.newSandbox("one-crd")) {
      new OperatorInstallation(sandbox.namespace(), OperatorInstallation.DEFAULT_IMAGE)
          .permissions()
          .forEach(object -> client.resource(object).create());
      sandbox.awaitRight(OperatorInstallation.NAME, "create", "apps", "daemonsets");

      start(
          Map.of("WATCH_NAMESPACE", sandbox.namespace()),
          "pmem-csi-operator",
          "-v=5",
          "-kubeconfig=" + sandbox.kubeconfigAs(OperatorInstallation.NAME),
          "-image=driver:1",
          "-leader-election");

      create(PMEM, PMEM_DRIVER);
      awaitStatus(PMEM, DRIVER, "\"phase\":\"Initializing\"");
      assertThat(client.apps().daemonSets().inNamespace(sandbox.namespace()).list().getItems())
          .isNotEmpty();
    }
  }

  @Test
  void operatorStartsWithTheCrdsThatExistAndPicksUpTheOthers() throws Exception {
    start(
        Map.of(),
        "pmem-csi-operator",
        "-v",
        "5",
        "-alsologtostderr",
        "-kubeconfig=" + cluster.kubeconfig(),
        "-metrics-addr=127.0.0.1:0",
        "-leader-election");
    awaitLog("PMEM-CSI operator started.");
    assertThat(log())
        .contains("CRDs are not installed")
        .contains("csidriverdeployments.csidriver.storage.openshift.io")
        .contains("pmemcsideployments.pmem-csi.intel.com");
    assertThat(get("/healthz").statusCode()).as("a restart would not help").isEqualTo(200);
    assertThat(get("/readyz").body())
        .contains("no CRD is installed: apply the files of deploy/crd");

    install("csidriver.storage.openshift.io_csidriverdeployments.yaml");
    create(TEMPLATES, template("one", "one.example.com"));
    awaitStatus(TEMPLATES, "one", "\"type\":\"SyncSuccessful\"", "\"status\":\"True\"");
    await().atMost(LIMIT).until(() -> get("/readyz").statusCode() == 200);

    install("pmem-csi.intel.com_pmemcsideployments.yaml");
    create(PMEM, PMEM_DRIVER);
    awaitStatus(
        PMEM,
        DRIVER,
        "\"phase\":\"Failed\"",
        "spec.image: missing, and the operator has no default image: set spec.image, or start the"
            + " operator with -image=IMAGE");
    client
        .genericKubernetesResources(PMEM)
        .withName(DRIVER)
        .edit(
            resource -> {
              resource.setAdditionalProperty("spec", Map.of("image", "driver:1"));
              return resource;
            });
    awaitStatus(PMEM, DRIVER, "\"phase\":\"Initializing\"");

    // the operator watches the other kind for conflicts, too
    create(TEMPLATES, template("two", DRIVER));
    awaitStatus(TEMPLATES, "two", "\"reason\":\"Conflict\"", DRIVER);
    client.genericKubernetesResources(PMEM).withName(DRIVER).delete();
    awaitStatus(TEMPLATES, "two", "\"reason\":\"Synced\"");
    assertThat(running().isAlive()).isTrue();

    // the only replica: no other one takes the lease
    cluster.close();
    assertThat(running().waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(log().lines().reduce((_, last) -> last).orElseThrow())
        .contains("in namespace kube-system is lost, because it was not renewed in time: this one");
    assertThat(log()).doesNotContain("leader=\"\"");
  }

  private Process running() {
    return Objects.requireNonNull(operator);
  }

  private void install(String file) {
    client.resource(read(DEFINITIONS.resolve(file))).create();
  }

  private static String template(String name, String driver) {
    return """
    apiVersion: csidriver.storage.openshift.io/v1alpha1
    kind: CSIDriverDeployment
    metadata: {name: %s, namespace: default}
    spec:
      driverName: %s
      driverSocket: /csi/csi.sock
      driverPerNodeTemplate:
        spec:
          containers:
            - {name: driver, image: driver, securityContext: {privileged: true}}
    """
        .formatted(name, driver);
  }

  /** The server needs a moment to serve the kind of a new CRD. */
  private void create(ResourceDefinitionContext kind, String yaml) {
    var resource =
        client.getKubernetesSerialization().unmarshal(yaml, GenericKubernetesResource.class);
    await()
        .atMost(LIMIT)
        .ignoreException(KubernetesClientException.class)
        .until(
            () -> {
              client.genericKubernetesResources(kind).resource(resource).create();
              return true;
            });
  }

  private void awaitStatus(ResourceDefinitionContext kind, String name, String... parts) {
    await(name)
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(running().isAlive()).as(log()).isTrue();
              assertThat(status(kind, name)).contains(parts);
            });
  }

  private String status(ResourceDefinitionContext kind, String name) {
    var resources = client.genericKubernetesResources(kind);
    GenericKubernetesResource found =
        (kind.isNamespaceScoped() ? resources.inNamespace("default") : resources)
            .withName(name)
            .get();
    return client
        .getKubernetesSerialization()
        .asJson(found.getAdditionalProperties().get("status"));
  }

  private void awaitLog(String line) {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(running().isAlive()).as(log()).isTrue();
              assertThat(log()).contains(line);
            });
  }

  private HttpResponse<String> get(String path) throws Exception {
    String port =
        log()
            .lines()
            .filter(line -> line.contains("Prometheus endpoint started."))
            .map(line -> line.replaceAll(".*127\\.0\\.0\\.1:(\\d+).*", "$1"))
            .filter(text -> text.matches("\\d+"))
            .findFirst()
            .orElseThrow();
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:%s%s".formatted(port, path))).build(),
          BodyHandlers.ofString());
    }
  }

  private String log() {
    return read(directory.resolve("err"));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ResourceDefinitionContext context(
      String group, String version, String kind, boolean namespaced) {
    return new ResourceDefinitionContext.Builder()
        .withGroup(group)
        .withVersion(version)
        .withKind(kind)
        .withPlural(kind.toLowerCase(Locale.ROOT) + "s")
        .withNamespaced(namespaced)
        .build();
  }
}
