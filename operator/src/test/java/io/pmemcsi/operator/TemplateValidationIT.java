package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentSpec;
import io.pmemcsi.operator.tools.render.Rendering;
import io.pmemcsi.testbed.kubernetes.Kubectl;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Invalid resources, conflicts between resources, and the configuration of the operator. */
@WithKubernetes(perClass = true)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TemplateValidationIT {

  private static final String GOOD = "good";

  private Sandbox sandbox;
  private KubernetesClient client;
  private Path config;
  private InstalledOperator operator;

  @BeforeAll
  void install(Sandbox sandbox, @TempDir Path directory) throws IOException {
    this.sandbox = sandbox;
    this.client = sandbox.client();
    this.config = Files.writeString(directory.resolve("config.yaml"), "deploymentReplicas: 1\n");
    this.operator = InstalledOperator.install(sandbox).startWithConfig(config);
  }

  @AfterEach
  void deleteAll() {
    Supplier<List<HasMetadata>> left =
        () -> Stream.<HasMetadata>concat(others().stream(), pmem().stream()).toList();
    left.get().forEach(resource -> client.resource(resource).delete());
    await().until(() -> left.get().isEmpty());
  }

  private List<PmemCSIDeployment> pmem() {
    return client.resources(PmemCSIDeployment.class).list().getItems().stream()
        .filter(resource -> resource.getMetadata().getName().endsWith(".csi.example.com"))
        .toList();
  }

  private List<CSIDriverDeployment> others() {
    return client
        .resources(CSIDriverDeployment.class)
        .inNamespace(sandbox.namespace())
        .list()
        .getItems()
        .stream()
        .filter(resource -> !resource.getMetadata().getName().equals(GOOD))
        .toList();
  }

  @AfterAll
  void deleteValidResource() {
    if (driver(GOOD).get() != null) {
      driver(GOOD).delete();
    }
  }

  /**
   * The server rejects what the schema covers, the operator reports the rest. {@link
   * TemplateOtherServersIT} has a server that accepts everything.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "no container|{\"spec\":{\"driverPerNodeTemplate\":{\"spec\":{\"containers\":[]}}}}|containers",
        "relative socket path|{\"spec\":{\"driverSocket\":\"csi/csi.sock\"}}|driverSocket",
        "unknown strategy|{\"spec\":{\"nodeUpdateStrategy\":\"Sudden\"}}|nodeUpdateStrategy",
        "empty image|{\"spec\":{\"containerImages\":{\"attacherImage\":\"\"}}}|attacherImage",
        "two defaults|{\"spec\":{\"storageClassTemplates\":[{\"metadata\":{\"name\":\"bad-a\"},"
            + "\"default\":true},{\"metadata\":{\"name\":\"bad-b\"},\"default\":true}]}}|default",
        "conflict of volumes|{\"spec\":{\"driverPerNodeTemplate\":{\"spec\":{\"volumes\":"
            + "[{\"name\":\"kubelet-root\",\"emptyDir\":{}}]}}}}|volume \"kubelet-root\"",
        "conflict of containers|{\"spec\":{\"driverControllerTemplate\":{\"spec\":{\"containers\":"
            + "[{\"name\":\"csi-provisioner\"}]}}}}|container \"csi-provisioner\"",
        "conflict of ports|{\"spec\":{\"driverControllerTemplate\":{\"spec\":{\"containers\":"
            + "[{\"name\":\"d\",\"ports\":[{\"containerPort\":9808}]}]}}}}|port 9808",
        "unknown field|{\"spec\":{\"driverPerNodeTemplate\":{\"spec\":{\"volumes\":[{\"name\":\"v\","
            + "\"emptydir\":{}}]}}}}|spec.driverPerNodeTemplate.spec.volumes[0].emptydir: is not a"
            + " field of a pod template: correct its name or remove it",
        "trailing dash|{\"spec\":{\"driverName\":\"bad-\"}}|driverName"
      })
  void invalidResourceIsReportedAndNothingIsChanged(String what, String patch, String message) {
    TemplateResource driver = goodOne();
    Long generation = driver.status().observedGeneration();
    List<String> before = versions(driver);

    boolean refused = isRefused(driver, patch, message);

    if (!refused) {
      driver.awaitSyncError(message);
      assertThat(driver.status().observedGeneration()).as(what).isEqualTo(generation);
    }
    assertThat(versions(driver)).as(what).isEqualTo(before);
  }

  /** One resource for all cases: it is restored, not recreated. */
  private TemplateResource goodOne() {
    var driver = driver(GOOD);
    if (driver.get() == null) {
      driver.create();
    } else {
      CSIDriverDeploymentSpec good =
          ((CSIDriverDeployment) new Rendering().read(TemplateResource.yaml(GOOD))).getSpec();
      Edits.edit(
          driver.resource(),
          found -> {
            found.setSpec(good);
            return found;
          });
    }
    return driver.awaitSynced();
  }

  @Test
  void nothingIsCreatedForAnInvalidResource() {
    var driver =
        driver("wrong")
            .create(
                TemplateResource.yaml("wrong")
                    .replace("- {name: helper,", "- {name: csi-driver-registrar,"));

    driver.awaitSyncError("container \"csi-driver-registrar\" is used by the operator itself");
    driver.awaitNotAvailable("has not started yet");

    assertThat(driver.objectNames()).isEmpty();
    assertThat(driver.events()).containsExactly("SyncError");
  }

  /** Only the server knows all rules for pods, so the operator sends a dry run first. */
  @ParameterizedTest
  @CsvSource({"driverPerNodeTemplate,DaemonSet", "driverControllerTemplate,Deployment"})
  void nothingIsCreatedFromATemplateThatTheServerRejects(String template, String kind) {
    var driver = driver("refused");
    var resource = (CSIDriverDeployment) new Rendering().read(TemplateResource.yaml("refused"));
    resource.getMetadata().setNamespace(sandbox.namespace());
    ObjectNode spec = client.getKubernetesSerialization().convertValue(resource, ObjectNode.class);
    ((ObjectNode) spec.at("/spec/%s/spec/containers/0".formatted(template)))
        .withArray("volumeMounts")
        .addObject()
        .put("name", "nowhere")
        .put("mountPath", "/mnt");
    driver.create(client.getKubernetesSerialization().asYaml(spec));

    driver.awaitSyncError(
        "%s.apps \"refused-%s\" is invalid"
            .formatted(kind, kind.equals("DaemonSet") ? "node" : "controller"));
    driver.awaitSyncError("volumeMounts[0].name: Not found: \"nowhere\"");
    driver.awaitNotAvailable("has not started yet");

    assertThat(driver.objectNames()).isEmpty();
    assertThat(driver.events()).containsExactly("SyncError");
  }

  @Test
  void driverNameMayBeOneCharacter() {
    var driver =
        driver("letter")
            .create(TemplateResource.yaml("letter").replace("letter.csi.example.com", "x"));

    driver.awaitSynced();
    assertThat(client.storage().v1().csiDrivers().withName("x").get()).isNotNull();
  }

  @Test
  void youngerConflictingResourceReportsTheConflictAndRecoversWhenTheOtherIsDeleted() {
    var older = driver("older").create();
    older.awaitSynced();
    var younger =
        driver("younger")
            .create(
                TemplateResource.yaml("younger")
                    .replace("younger.csi.example.com", "older.csi.example.com")
                    .replace("younger-second", "older-second"));

    younger.awaitSyncError(
        "CSIDriverDeployment \"older\" in namespace \"%s\", which is older, has the driver name"
                .formatted(sandbox.namespace())
            + " \"older.csi.example.com\" and the storage class \"older-second\" already");
    assertThat(younger.objectNames()).isEmpty();
    older.awaitSynced();

    older.delete();

    younger.awaitSynced();
    assertThat(client.storage().v1().csiDrivers().withName("older.csi.example.com").get())
        .isNotNull();
  }

  /** Creation times have whole seconds: the resource that owns the objects keeps the name. */
  @ParameterizedTest
  @CsvSource({"b,a", "a,b"})
  void firstOfTwoInTheSameSecondKeepsTheName(String first, String second) {
    var one = driver(first + "-tie").create(sharing(first + "-tie"));
    await()
        .pollInterval(Duration.ofMillis(20))
        .until(() -> client.storage().v1().csiDrivers().withName("tie.example.com").get() != null);

    var two = driver(second + "-tie").create(sharing(second + "-tie"));

    two.awaitSyncError("CSIDriverDeployment \"%s-tie\" in namespace".formatted(first));
    one.awaitSynced();
    assertThat(two.objectNames()).isEmpty();
  }

  @Test
  void editThatConflictsWithAnotherResourceIsReportedAndCanBeReverted() {
    var older = driver("elder").create();
    older.awaitSynced();
    String namespace = sandbox.namespace() + "-conflict";
    client
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build())
        .create();
    var younger = new TemplateResource(client, namespace, "junior").create();
    younger.awaitSynced();

    older.patch(
        "{\"spec\":{\"storageClassTemplates\":[{\"metadata\":{\"name\":\"junior-second\"}}]}}");

    older.awaitSyncError(
        "CSIDriverDeployment \"junior\" in namespace \"%s\" has the storage class"
            .formatted(namespace));
    younger.awaitSynced();
    younger.patch("{\"spec\":{\"storageClassTemplates\":[]}}");
    older.awaitSynced();
    younger.delete();
    client.namespaces().withName(namespace).delete();
  }

  @Test
  void youngerResourceReportsConflictsOverSocketDirectoryAndHostPort() {
    driver("first").create(onHost("first", "9123", "/somewhere")).awaitSynced();

    var port = driver("port").create(onHost("port", "9123", "/somewhere"));
    var socket =
        driver("socket")
            .create(onHost("socket", "9124", "/var/lib/kubelet/plugins/first.csi.example.com/x"));
    var neither = driver("neither").create(onHost("neither", "9125", "/somewhere"));

    port.awaitSyncError("which is older, has the host port 9123 (TCP) already");
    socket.awaitSyncError(
        "has the socket directory /var/lib/kubelet/plugins/first.csi.example.com already");
    neither.awaitSynced();
  }

  @Test
  void youngerPmemDeploymentReportsTheOwnerOfItsName() {
    driver("early").create().awaitSynced();
    var pmem = new PmemCSIDeployment();
    pmem.setMetadata(new ObjectMetaBuilder().withName("early.csi.example.com").build());

    client.resource(pmem).create();

    await()
        .untilAsserted(
            () ->
                assertThat(client.resource(pmem).get().getStatus().reason())
                    .contains(
                        "CSIDriver \"early.csi.example.com\": belongs to CSIDriverDeployment"
                            + " \"early\" in namespace \"%s\"".formatted(sandbox.namespace())));
  }

  @Test
  void pmemDriverConflictsWithADriverFromTemplates() {
    var pmem = new PmemCSIDeployment();
    pmem.setMetadata(new ObjectMetaBuilder().withName("conflict.csi.example.com").build());
    client.resource(pmem).create();
    await()
        .until(
            () ->
                client.storage().v1().csiDrivers().withName("conflict.csi.example.com").get()
                    != null);

    var driver = driver("conflict").create();

    driver.awaitSyncError("PmemCSIDeployment \"conflict.csi.example.com\", which is older");
    client.resource(pmem).delete();
    driver.awaitSynced();
  }

  /** With the operator's permissions: it may bind the documented roles without having theirs. */
  @Test
  void everyConfigurationKeyIsAppliedToTheObjects() throws IOException {
    var driver =
        driver("keys")
            .create(TemplateResource.yaml("keys").replaceAll("(?m)^ +nodeSelector: .*\n", ""));
    driver.awaitSynced();
    for (String role :
        List.of(
            "system:openshift:csi-driver",
            "system:openshift:csi-driver-controller-leader-election")) {
      sandbox.create(
          new ClusterRoleBuilder()
              .withNewMetadata()
              .withName(role)
              .endMetadata()
              .addNewRule()
              .withApiGroups("example.com")
              .withResources("secrets-of-openshift")
              .withVerbs("get")
              .endRule()
              .build());
    }

    configure(
        """
        deploymentReplicas: 1
        clusterRoleName: system:openshift:csi-driver
        leaderElectionClusterRoleName: system:openshift:csi-driver-controller-leader-election
        kubeletRootDir: /data/kubelet
        infrastructureNodeSelector: {infra: "yes"}
        defaultImages: {attacherImage: "mine:1", driverRegistrarImage: "mine:2"}
        """);
    try {
      String wide = "csidriverdeployment:%s:keys".formatted(sandbox.namespace());
      await()
          // a binding to another role is recreated, and missing for a moment
          .ignoreException(NullPointerException.class)
          .untilAsserted(
              () -> {
                assertThat(driver.objectNames())
                    .doesNotContain("ClusterRole " + wide, "Role leader-election-keys");
                assertThat(
                        client
                            .rbac()
                            .clusterRoleBindings()
                            .withName(wide)
                            .get()
                            .getRoleRef()
                            .getName())
                    .isEqualTo("system:openshift:csi-driver");
                assertThat(
                        client
                            .rbac()
                            .roleBindings()
                            .inNamespace(sandbox.namespace())
                            .withName("leader-election-keys")
                            .get()
                            .getRoleRef()
                            .getName())
                    .isEqualTo("system:openshift:csi-driver-controller-leader-election");
                assertThat(template(driver, "-controller"))
                    .contains("\"mine:1\"", "\"infra\":\"yes\"");
                assertThat(template(driver, "-node"))
                    .contains("\"mine:2\"", "/data/kubelet/plugins/keys.csi.example.com");
              });
      driver.awaitSynced();
    } finally {
      configure("deploymentReplicas: 1\n");
    }
    await().until(() -> driver.objectNames().contains("Role leader-election-keys"));
    driver.awaitSynced();
  }

  @Test
  void changedConfigurationIsAppliedAndAnInvalidOneIsNot() throws IOException {
    var driver = driver("config").create();
    driver.awaitSynced();

    configure("deploymentReplicas: 2\n");
    await().until(() -> replicas(driver) == 2);
    configure("deploymentReplicas: 3\nunknown: key\n");
    await()
        .untilAsserted(
            () ->
                assertThat(readiness())
                    .contains("the configuration file is wrong", "unknown: is not a key"));
    assertThat(replicas(driver)).isEqualTo(2);
    configure("deploymentReplicas: 1\n");
    await().until(() -> replicas(driver) == 1);
    await().until(() -> readiness().startsWith("ok"));
  }

  @Test
  void deletedNamespaceDeletesItsDrivers() {
    String namespace = sandbox.namespace() + "-x";
    client
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build())
        .create();
    var driver = new TemplateResource(client, namespace, "ending").create();
    driver.awaitSynced();

    client.namespaces().withName(namespace).delete();

    await()
        .atMost(Duration.ofMinutes(3))
        .until(() -> client.namespaces().withName(namespace).get() == null);
    assertThat(driver.objectNames()).isEmpty();
  }

  @Test
  void kubectlShowsDriverStateAndConditions(@TempDir Path cache) {
    var driver = driver("shown").create();
    driver.awaitSynced();
    driver.awaitNotAvailable("");

    String output =
        new Kubectl(sandbox.cluster(), cache, cache)
            .run(
                "--namespace=" + sandbox.namespace(),
                "get",
                "csidriverdeployments",
                "shown",
                "--no-headers");

    assertThat(output)
        .matches("(?s)shown +shown.csi.example.com +Managed +False +True +False +\\S+\\s*");
  }

  /** Atomically, as kubelet does: the operator must not read an empty file. */
  private void configure(String text) throws IOException {
    Path next = Files.writeString(config.resolveSibling("next.yaml"), text);
    Files.move(next, config, StandardCopyOption.ATOMIC_MOVE);
  }

  private static String sharing(String name) {
    return TemplateResource.yaml(name).replace(name + ".csi.example.com", "tie.example.com");
  }

  private static String onHost(String name, String port, String directory) {
    return TemplateResource.yaml(name)
        .replace(
            "- {name: helper, image: \"helper:1\"}",
            "- {name: helper, image: \"helper:1\", ports: [{containerPort: 1, hostPort: %s}]}"
                    .formatted(port)
                + "\n      volumes: [{name: v, hostPath: {path: %s}}]".formatted(directory));
  }

  private TemplateResource driver(String name) {
    return new TemplateResource(client, sandbox.namespace(), name);
  }

  private String template(TemplateResource driver, String suffix) {
    Object workload =
        suffix.equals("-node")
            ? client
                .apps()
                .daemonSets()
                .inNamespace(driver.namespace())
                .withName(driver.name() + suffix)
                .get()
                .getSpec()
                .getTemplate()
            : client
                .apps()
                .deployments()
                .inNamespace(driver.namespace())
                .withName(driver.name() + suffix)
                .get()
                .getSpec()
                .getTemplate();
    return client.getKubernetesSerialization().asJson(workload);
  }

  private String readiness() throws Exception {
    try (var http = HttpClient.newHttpClient()) {
      var uri = URI.create("http://127.0.0.1:%d/readyz".formatted(operator.metricsPort()));
      return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
    }
  }

  private int replicas(TemplateResource driver) {
    return client
        .apps()
        .deployments()
        .inNamespace(driver.namespace())
        .withName(driver.name() + "-controller")
        .get()
        .getSpec()
        .getReplicas();
  }

  private static boolean isRefused(TemplateResource driver, String patch, String message) {
    try {
      driver.patch(patch);
      return false;
    } catch (KubernetesClientException e) {
      assertThat(e).hasMessageContaining(message);
      return true;
    }
  }

  private static List<String> versions(TemplateResource driver) {
    return driver.objects().stream()
        .map(
            object ->
                object.getKind()
                    + object.getMetadata().getGeneration()
                    + object.getMetadata().getUid())
        .toList();
  }
}
