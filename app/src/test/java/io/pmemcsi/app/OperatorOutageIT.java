package io.pmemcsi.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequest;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.testbed.kubernetes.Binaries;
import io.pmemcsi.testbed.kubernetes.Clients;
import io.pmemcsi.testbed.kubernetes.ControlPlane;
import io.pmemcsi.testbed.kubernetes.Definitions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The operator as a process of its own, whose API server or whose credentials for it go away. */
class OperatorOutageIT {

  private static final String NAMESPACE = "default";
  private static final String STARTED = "PMEM-CSI operator started.";
  private static final Duration LIMIT = Duration.ofMinutes(4);

  /** The lease lasts 15 s. */
  private static final Duration OUTAGE = Duration.ofSeconds(25);

  private static ControlPlane plane;
  private static KubernetesClient client;

  @TempDir private Path directory;
  private final List<Process> started = new ArrayList<>();

  @BeforeAll
  static void startPlane() {
    plane = ControlPlane.start(Binaries.find());
    client = Clients.to(Config.fromKubeconfig(plane.kubeconfig().toFile())).build();
    Definitions.install(client, Path.of("../deploy/crd"));
  }

  @AfterAll
  static void stopPlane() {
    client.close();
    plane.close();
  }

  @AfterEach
  void end() {
    started.forEach(process -> process.destroyForcibly().onExit().join());
    client
        .resources(PmemCSIDeployment.class)
        .list()
        .getItems()
        .forEach(
            resource -> {
              resource.getMetadata().setFinalizers(List.of());
              client.resource(resource).update();
              client.resource(resource).delete();
            });
  }

  @Test
  void anOperatorWithoutLeaderElectionWaitsForTheApiServer() throws Exception {
    Process operator = start(plane.kubeconfig());
    create("waiting.example.com");

    plane.stopApiServer();
    TimeUnit.SECONDS.sleep(OUTAGE.toSeconds());
    plane.restartApiServer();
    setLogLevel("waiting.example.com", 5);

    awaitGeneration("waiting.example.com", 2);
    assertThat(operator.isAlive()).as(log()).isTrue();
  }

  /** Another replica may lead by then, so the process ends, and the kubelet restarts it. */
  @Test
  void aLeaderEndsToBeRestartedAndReconcilesAfterwards() throws Exception {
    Process operator = start(plane.kubeconfig(), "--leader-election");
    create("leader.example.com");
    awaitGeneration("leader.example.com", 1);

    plane.stopApiServer();
    assertThat(operator.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).as(log()).isTrue();
    assertThat(log()).contains("was not renewed in time: this one ends at once, to be restarted");
    Process early = startProcess(plane.kubeconfig(), "--leader-election");
    assertThat(early.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).as(log()).isTrue();
    assertThat(log()).contains("cannot reach the API server");
    plane.restartApiServer();
    setLogLevel("leader.example.com", 5);
    start(plane.kubeconfig(), "--leader-election");

    awaitGeneration("leader.example.com", 2);
  }

  @Test
  void aTokenThatIsReplacedInItsFileIsUsed() throws Exception {
    account();
    Secret first = secret("first");
    String expired = token(first);
    Path kubeconfig = kubeconfig(expired);
    Process operator = start(kubeconfig);
    create("token.example.com");
    awaitGeneration("token.example.com", 1);

    client.resource(first).delete();
    await().atMost(LIMIT).until(() -> isRefused(expired));
    setLogLevel("token.example.com", 5);
    kubeconfig(token(secret("second")));

    awaitGeneration("token.example.com", 2);
    assertThat(operator.isAlive()).as(log()).isTrue();
  }

  /** It cannot be replaced in a running client; whoever started the process restarts it. */
  @Test
  void anOperatorWhoseClientCertificateIsReplacedEndsToBeRestarted() throws Exception {
    Path kubeconfig = kubeconfigWithCertificate("first");
    Process operator = start(kubeconfig);
    create("certificate.example.com");
    awaitGeneration("certificate.example.com", 1);

    kubeconfigWithCertificate("second");

    assertThat(operator.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).as(log()).isTrue();
    assertThat(operator.exitValue()).isOne();
    assertThat(log()).contains("the certificates for the API server were replaced");
    setLogLevel("certificate.example.com", 5);
    start(kubeconfig);
    awaitGeneration("certificate.example.com", 2);
  }

  private static void create(String name) {
    var resource = new PmemCSIDeployment();
    resource.getMetadata().setName(name);
    client.resource(resource).create();
  }

  private static void setLogLevel(String name, int level) {
    client
        .resource(
            """
            apiVersion: pmem-csi.intel.com/v1beta1
            kind: PmemCSIDeployment
            metadata: {name: %s}
            spec: {logLevel: %d}
            """
                .formatted(name, level))
        .fieldManager("test")
        .forceConflicts()
        .serverSideApply();
  }

  private void awaitGeneration(String name, long generation) {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(
                        client
                            .resources(PmemCSIDeployment.class)
                            .withName(name)
                            .get()
                            .getStatus()
                            .observedGeneration())
                    .as(log())
                    .isEqualTo(generation));
  }

  private static void account() {
    client
        .resource(
            new ServiceAccountBuilder()
                .withNewMetadata()
                .withName("operator")
                .withNamespace(NAMESPACE)
                .endMetadata()
                .build())
        .create();
    client
        .resource(
            new ClusterRoleBindingBuilder()
                .withNewMetadata()
                .withName("operator-outage")
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", "cluster-admin")
                .addNewSubject("", "ServiceAccount", "operator", NAMESPACE)
                .build())
        .create();
  }

  private static Secret secret(String name) {
    return client
        .resource(
            new SecretBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(NAMESPACE)
                .endMetadata()
                .build())
        .create();
  }

  /** Valid as long as the secret exists. */
  private static String token(Secret secret) {
    TokenRequest request =
        new TokenRequestBuilder()
            .withNewSpec()
            .withNewBoundObjectRef()
            .withApiVersion("v1")
            .withKind("Secret")
            .withName(secret.getMetadata().getName())
            .withUid(secret.getMetadata().getUid())
            .endBoundObjectRef()
            .endSpec()
            .build();
    return client
        .serviceAccounts()
        .inNamespace(NAMESPACE)
        .withName("operator")
        .tokenRequest(request)
        .getStatus()
        .getToken();
  }

  private static boolean isRefused(String token) {
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(plane.server())
            .withCaCertFile(plane.authorityFile().toString())
            .withOauthToken(token)
            .build();
    try (KubernetesClient other = Clients.to(config).build()) {
      other.namespaces().list();
      return false;
    } catch (KubernetesClientException e) {
      return e.getCode() == 401;
    }
  }

  private Path kubeconfigWithCertificate(String user) throws IOException {
    var issued = plane.authority().issueWithRsaKey("O=system:masters,CN=" + user);
    return kubeconfigOf(
        "{client-certificate-data: %s, client-key-data: %s}"
            .formatted(base64(issued.certificatePem()), base64(issued.keyPem())));
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private Path kubeconfig(String token) throws IOException {
    return kubeconfigOf("{token: \"%s\"}".formatted(token));
  }

  /** Replaced as a whole, as the kubelet replaces files of volumes. */
  private Path kubeconfigOf(String user) throws IOException {
    Path part =
        Files.writeString(
            directory.resolve("kubeconfig.part"),
            """
            apiVersion: v1
            kind: Config
            clusters:
              - name: test
                cluster: {server: "%s", certificate-authority: "%s"}
            users:
              - name: test
                user: %s
            contexts:
              - name: test
                context: {cluster: test, user: test}
            current-context: test
            """
                .formatted(plane.server(), plane.authorityFile(), user));
    return Files.move(part, directory.resolve("kubeconfig"), StandardCopyOption.REPLACE_EXISTING);
  }

  private Process start(Path kubeconfig, String... more) throws IOException {
    Process process = startProcess(kubeconfig, more);
    await().atMost(LIMIT).until(() -> log().contains(STARTED) || !process.isAlive());
    assertThat(process.isAlive()).as(log()).isTrue();
    return process;
  }

  private Process startProcess(Path kubeconfig, String... more) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of("../bin/pmem-csi-operator").toAbsolutePath().normalize().toString(),
                "--image=any",
                "--metrics-addr=0",
                "--kubeconfig=" + kubeconfig));
    command.addAll(List.of(more));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("log").toFile());
    builder.environment().put("WATCH_NAMESPACE", NAMESPACE);
    Process process = builder.start();
    started.add(process);
    return process;
  }

  private String log() throws IOException {
    return Files.readString(directory.resolve("log"));
  }
}
