package io.pmemcsi.controller;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.LabelSelectorRequirement;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.storage.StorageClassBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.controller.ControllerSettings.CertificateFiles;
import io.pmemcsi.controller.capacity.ScrapedCapacity;
import io.pmemcsi.controller.https.TestCertificate;
import io.pmemcsi.testbed.kubernetes.FakeNodes;
import io.pmemcsi.testbed.kubernetes.KubernetesVersion;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.process.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * A driver on fake nodes with everything around it that is real: an API server that calls the
 * webhook, and a kube-scheduler that calls the extender, both over TLS.
 */
final class SchedulingWorld implements AutoCloseable {

  static final long GIB = 1L << 30;

  private static final LabelSelectorRequirement NOT_IGNORED =
      new LabelSelectorRequirement("pmem-csi.intel.com/webhook", "NotIn", List.of("ignore"));

  final Sandbox sandbox = TestCluster.get().newSandbox("scheduling");
  final KubernetesClient client = sandbox.client();
  final DriverName driver = new DriverName(sandbox.namespace() + ".example.com");
  final String className = sandbox.namespace();
  final TestCertificate certificate;
  final Path certificates;
  private final Deque<Runnable> parts = new ArrayDeque<>();

  /** Whether pods with claims come with the mark that the webhook would set. */
  boolean markPods;

  FakeNodes nodes;
  FakeProvisioner provisioner;
  ControllerProgram controller;

  @SuppressWarnings("NullAway.Init") // nodes() and controller() set the other parts
  SchedulingWorld(Path certificates) {
    this.certificates = certificates;
    this.certificate = new TestCertificate(certificates);
    sandbox.create(
        new StorageClassBuilder()
            .withNewMetadata()
            .withName(className)
            .endMetadata()
            .withProvisioner(driver.value())
            .withVolumeBindingMode("WaitForFirstConsumer")
            .build());
  }

  /** Creates nodes with the same amount of memory each. */
  SchedulingWorld nodes(int count, long bytes) {
    return nodesWith(LongStream.generate(() -> bytes).limit(count).toArray());
  }

  /** Creates a node with each of these amounts of memory. */
  SchedulingWorld nodesWith(long... bytes) {
    nodes = FakeNodes.create(sandbox.cluster(), bytes.length, Map.of("scheduling", className));
    parts.push(nodes::close);
    Map<String, Long> capacity = new HashMap<>();
    for (int i = 0; i < bytes.length; i++) {
      capacity.put(nodes.names().get(i), bytes[i]);
    }
    provisioner =
        new FakeProvisioner(client, sandbox.namespace(), driver.value(), className, capacity);
    parts.push(provisioner::close);
    return this;
  }

  ControllerSettings settings(int port) {
    return new ControllerSettings(
        driver,
        sandbox.namespace(),
        "replica-" + port,
        Map.of(),
        Optional.of(new ListenAddress("127.0.0.1", port)),
        Optional.empty(),
        new CertificateFiles(certificates.resolve("tls.crt"), certificates.resolve("tls.key")),
        Optional.of(new ListenAddress("127.0.0.1", 0)),
        "/metrics");
  }

  static ControllerProgram.Timing quick() {
    return new ControllerProgram.Timing(
        new ScrapedCapacity.Timing(Duration.ofSeconds(1), Duration.ofMillis(500)),
        Duration.ofMillis(200),
        Duration.ofMillis(100));
  }

  /** Starts the controller in this process and waits until it is ready. */
  SchedulingWorld controller(int port) {
    start(client, settings(port), quick());
    await().until(() -> controller.notReady().isEmpty());
    return this;
  }

  /** Starts the controller in this process. */
  void start(
      KubernetesClient account, ControllerSettings settings, ControllerProgram.Timing timing) {
    controller = ControllerProgram.start(account, settings, timing);
    parts.push(() -> controller.close());
  }

  /**
   * A client that may not read CSIStorageCapacity objects: with the alpha version of these, the
   * controller reads the metrics of node drivers then. With others the test is skipped.
   */
  KubernetesClient clientWithoutCapacities() {
    assumeTrue(
        TestCluster.capacityVersion(client, sandbox.namespace()).equals("v1alpha1"),
        "the server has CSIStorageCapacity objects");
    sandbox.create(
        new ServiceAccountBuilder()
            .withNewMetadata()
            .withName("controller")
            .withNamespace(sandbox.namespace())
            .endMetadata()
            .build());
    sandbox.create(
        new ClusterRoleBuilder()
            .withNewMetadata()
            .withName(className)
            .endMetadata()
            .addNewRule()
            .withApiGroups("", "storage.k8s.io")
            .withResources("pods", "persistentvolumeclaims", "storageclasses")
            .withVerbs("get", "list", "watch")
            .endRule()
            .build());
    sandbox.create(
        new ClusterRoleBindingBuilder()
            .withNewMetadata()
            .withName(className)
            .endMetadata()
            .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", className)
            .addNewSubject("", "ServiceAccount", "controller", sandbox.namespace())
            .build());
    sandbox.awaitRight("controller", "list", "storage.k8s.io", "storageclasses");
    return sandbox.clientAs("controller");
  }

  /** Creates the pod of a node driver. */
  void driverPod(String node, int port) {
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withName(node)
            .withLabels(
                Map.of(
                    "app.kubernetes.io/part-of", "pmem-csi",
                    "app.kubernetes.io/component", "node",
                    "app.kubernetes.io/instance", driver.value()))
            .endMetadata()
            .withNewSpec()
            .withNodeName(node)
            .addNewContainer()
            .withName("pmem-driver")
            .withImage("registry.example/driver:1")
            .addNewPort()
            .withName("metrics")
            .withContainerPort(port)
            .endPort()
            .endContainer()
            .endSpec()
            .build();
    client.resource(pod).create();
    client
        .pods()
        .withName(node)
        .editStatus(
            created -> created.edit().editOrNewStatus().withPodIP("127.0.0.1").endStatus().build());
  }

  /** Creates the pod of a node driver whose metrics report this capacity. */
  void driverPod(String node, long available, long largest) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    byte[] metrics =
        """
        pmem_amount_available{driver_name="%1$s"} %2$d
        pmem_amount_max_volume_size{driver_name="%1$s"} %3$d
        """
            .formatted(driver, available, largest)
            .getBytes(StandardCharsets.UTF_8);
    server.createContext(
        "/metrics",
        exchange -> {
          try (exchange) {
            exchange.sendResponseHeaders(200, metrics.length);
            exchange.getResponseBody().write(metrics);
          }
        });
    server.start();
    parts.push(() -> server.stop(0));
    driverPod(node, server.getAddress().getPort());
  }

  /** An answer from the port for metrics and health: its status and its text. */
  HttpResponse<String> get(String path) {
    try (HttpClient http = HttpClient.newHttpClient()) {
      int port = controller.metricsPort().orElseThrow();
      return http.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
          BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** The value of a metric without labels. */
  double metric(String name) {
    return get("/metrics")
        .body()
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no metric " + name));
  }

  int port() {
    return controller.schedulerPort().orElseThrow();
  }

  SchedulingWorld webhook(int port, String failurePolicy) {
    client
        .namespaces()
        .withName(sandbox.namespace())
        .edit(
            namespace ->
                namespace
                    .edit()
                    .editMetadata()
                    .addToLabels("scheduling", className)
                    .endMetadata()
                    .build());
    sandbox.create(
        new MutatingWebhookConfigurationBuilder()
            .withNewMetadata()
            .withName(className)
            .endMetadata()
            .addNewWebhook()
            .withName("pod-hook.pmem-csi.intel.com")
            .withAdmissionReviewVersions("v1")
            .withSideEffects("None")
            .withFailurePolicy(failurePolicy)
            .withNewNamespaceSelector()
            .withMatchLabels(Map.of("scheduling", className))
            .withMatchExpressions(NOT_IGNORED)
            .endNamespaceSelector()
            .withNewObjectSelector()
            .withMatchExpressions(NOT_IGNORED)
            .endObjectSelector()
            .withNewClientConfig()
            .withUrl("https://127.0.0.1:" + port + "/pod/mutate")
            .withCaBundle(authority())
            .endClientConfig()
            .addNewRule()
            .withApiGroups("")
            .withApiVersions("v1")
            .withOperations("CREATE")
            .withResources("pods")
            .endRule()
            .endWebhook()
            .build());
    return this;
  }

  String authority() {
    return Base64.getEncoder()
        .encodeToString(certificate.authorityPem().getBytes(StandardCharsets.UTF_8));
  }

  /** Starts a scheduler with the shipped configuration, of which only names are replaced. */
  SchedulingWorld scheduler(int port) {
    String configuration =
        read(Path.of("../deploy/scheduler/%s.yaml".formatted(schedulerApi())))
            .replace("/etc/kubernetes/scheduler.conf", "\"@KUBECONFIG@\"\n  qps: 500\n  burst: 500")
            .replace(
                "https://pmem-csi-intel-com-scheduler.pmem-csi.svc", "https://127.0.0.1:" + port)
            .replace("REPLACE_WITH_CA", authority())
            .replace("pmem-csi.intel.com/scheduler", driver + "/scheduler");
    configuration +=
        """
        leaderElection: {leaderElect: false}
        profiles:
        - schedulerName: %s
        """
            .formatted(className);
    ChildProcess scheduler = TestCluster.plane().startScheduler(className, configuration);
    parts.push(scheduler::close);
    return this;
  }

  /** The newest version of the configuration, as the documentation says. */
  private static String schedulerApi() {
    KubernetesVersion version = TestCluster.plane().version();
    if (version.isAtLeast(1, 25)) {
      return "v1";
    }
    return version.isAtLeast(1, 23) ? "v1beta3" : version.isAtLeast(1, 22) ? "v1beta2" : "v1beta1";
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }

  PersistentVolumeClaim claim(String name, long bytes) {
    return new PersistentVolumeClaimBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(sandbox.namespace())
        .endMetadata()
        .withNewSpec()
        .withAccessModes("ReadWriteOnce")
        .withStorageClassName(className)
        .withNewResources()
        .withRequests(Map.of("storage", new Quantity(Long.toString(bytes))))
        .endResources()
        .endSpec()
        .build();
  }

  /** Creates a claim for a volume of another driver that never comes. */
  void foreignClaim(String node, long bytes) {
    String foreign = className + "-foreign";
    sandbox.create(
        new StorageClassBuilder()
            .withNewMetadata()
            .withName(foreign)
            .endMetadata()
            .withProvisioner("foreign.example.com")
            .withVolumeBindingMode("WaitForFirstConsumer")
            .build());
    PersistentVolumeClaim claim = claim(foreign, bytes);
    claim.getSpec().setStorageClassName(foreign);
    claim.getMetadata().setAnnotations(Map.of("volume.kubernetes.io/selected-node", node));
    client.resource(claim).create();
  }

  /** A pod for the scheduler of this world. */
  Pod pod(String name, String... claims) {
    var builder =
        new PodBuilder()
            .withNewMetadata()
            .withName(name)
            .withNamespace(sandbox.namespace())
            .endMetadata()
            .withNewSpec()
            .withSchedulerName(className)
            .withNodeSelector(Map.of("scheduling", className))
            .addNewContainer()
            .withName("main")
            .withImage("registry.example/app:1")
            .endContainer();
    for (String claim : claims) {
      builder.addNewVolume().withName(claim).withNewPersistentVolumeClaim(claim, false).endVolume();
    }
    Pod pod = builder.endSpec().build();
    if (markPods) {
      Map<String, Quantity> mark = Map.of(driver + "/scheduler", new Quantity("1"));
      pod.getSpec()
          .getContainers()
          .getFirst()
          .setResources(
              new ResourceRequirementsBuilder().withRequests(mark).withLimits(mark).build());
    }
    return pod;
  }

  /** Creates pods with one claim each, as quickly as the API server takes them. */
  void burst(String prefix, int count, long bytes) {
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String name = prefix + "-" + i;
        all.add(
            threads.submit(
                () -> {
                  client.resource(claim(name, bytes)).create();
                  client.resource(pod(name, name)).create();
                }));
      }
      for (Future<?> one : all) {
        one.get();
      }
    } catch (Exception e) {
      throw new IllegalStateException("cannot create pods", e);
    }
  }

  /** The pods of this world by node; those without one have an empty name. */
  Map<String, Long> podsByNode() {
    return client.pods().inNamespace(sandbox.namespace()).list().getItems().stream()
        .collect(
            Collectors.groupingBy(
                pod -> Optional.ofNullable(pod.getSpec().getNodeName()).orElse(""),
                Collectors.counting()));
  }

  long placed() {
    return podsByNode().entrySet().stream()
        .filter(entry -> !entry.getKey().isEmpty())
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  @Override
  public void close() {
    client.pods().inNamespace(sandbox.namespace()).withGracePeriod(0).delete();
    while (!parts.isEmpty()) {
      parts.pop().run();
    }
    client.persistentVolumes().list().getItems().stream()
        .filter(volume -> className.equals(volume.getSpec().getStorageClassName()))
        .forEach(volume -> client.resource(volume).delete());
    sandbox.close();
  }
}
