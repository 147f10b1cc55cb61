package io.pmemcsi.bench.controller;

import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.storage.StorageClassBuilder;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.pmemcsi.controller.capacity.WatchedCapacity;
import io.pmemcsi.testbed.kubernetes.Binaries;
import io.pmemcsi.testbed.kubernetes.Certificates;
import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.ControlPlane;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.process.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;

/** An API server with the capacity of many nodes, and {@code bin/pmem-csi} as their controller. */
final class ControllerBed implements AutoCloseable {

  static final String DRIVER = "pmem-csi.intel.com";
  static final String CLASS = "bench-late";
  static final String CLAIM = "bench";

  /** For a volume that fits on one node in a hundred. */
  static final String LARGE_CLAIM = "bench-large";

  private static final long GIB = 1L << 30;
  private static final Duration LIMIT = Duration.ofMinutes(2);

  final Cluster cluster;
  final ControlPlane plane;
  final Sandbox sandbox;
  final Certificates authority = new Certificates("bench");
  final int port;
  private final Path directory;
  private final ChildProcess controller;

  private ControllerBed(ControlPlane plane, Cluster cluster, List<String> nodes) throws Exception {
    this.plane = plane;
    this.cluster = cluster;
    this.sandbox = cluster.newSandbox("bench");
    createVolumes();
    publish(nodes);
    directory = Files.createTempDirectory("pmem-csi-bench-");
    var issued = authority.issue("CN=controller");
    Files.writeString(directory.resolve("tls.crt"), issued.certificatePem());
    Files.writeString(directory.resolve("tls.key"), issued.keyPem());
    port = freePort();
    controller = start();
  }

  /** CSIStorageCapacity is off by default in old versions. */
  static ControlPlane startPlane() {
    Binaries binaries = Binaries.find();
    return ControlPlane.start(
        binaries,
        binaries.version().isAtLeast(1, 21)
            ? Map.of()
            : Map.of(
                "kube-apiserver",
                List.of(
                    "--feature-gates=CSIStorageCapacity=true",
                    "--runtime-config=storage.k8s.io/v1alpha1=true")));
  }

  static ControllerBed start(ControlPlane plane, Cluster cluster, List<String> nodes)
      throws Exception {
    return new ControllerBed(plane, cluster, nodes);
  }

  /** All memory of the controller, in MiB. */
  double residentMebibytes() throws IOException {
    String line =
        Files.readAllLines(Path.of("/proc/%d/status".formatted(controller.pid()))).stream()
            .filter(text -> text.startsWith("VmRSS:"))
            .findFirst()
            .orElseThrow(() -> new IOException("no VmRSS of the controller"));
    return Double.parseDouble(line.replaceAll("\\D", "")) / 1024;
  }

  /** Processor time of the controller so far. */
  Duration processorTime() {
    return ProcessHandle.of(controller.pid())
        .flatMap(process -> process.info().totalCpuDuration())
        .orElse(Duration.ZERO);
  }

  @Override
  public void close() {
    controller.close();
    sandbox.close();
  }

  private void createVolumes() {
    sandbox.create(
        new StorageClassBuilder()
            .withNewMetadata()
            .withName(CLASS)
            .endMetadata()
            .withProvisioner(DRIVER)
            .withVolumeBindingMode("WaitForFirstConsumer")
            .build());
    createClaim(CLAIM, "4Gi");
    createClaim(LARGE_CLAIM, "2000Gi");
  }

  private void createClaim(String name, String size) {
    sandbox
        .client()
        .resource(
            new PersistentVolumeClaimBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withAccessModes("ReadWriteOnce")
                .withStorageClassName(CLASS)
                .withNewResources()
                .withRequests(Map.of("storage", new Quantity(size)))
                .endResources()
                .endSpec()
                .build())
        .create();
  }

  private void publish(List<String> nodes) {
    String version =
        WatchedCapacity.servedVersion(sandbox.client(), sandbox.namespace()).orElseThrow();
    var capacities =
        new ResourceDefinitionContext.Builder()
            .withGroup("storage.k8s.io")
            .withVersion(version)
            .withKind("CSIStorageCapacity")
            .withPlural("csistoragecapacities")
            .withNamespaced(true)
            .build();
    try (var threads = Executors.newFixedThreadPool(8)) {
      for (int i = 0; i < nodes.size(); i++) {
        String node = nodes.get(i);
        long bytes = (i % 100 == 0 ? 3000 : 1000) * GIB;
        var _ =
            threads.submit(
                () ->
                    sandbox
                        .client()
                        .genericKubernetesResources(capacities)
                        .inNamespace(sandbox.namespace())
                        .resource(
                            new GenericKubernetesResourceBuilder()
                                .withApiVersion("storage.k8s.io/" + version)
                                .withKind("CSIStorageCapacity")
                                .withNewMetadata()
                                .withName(node)
                                .withNamespace(sandbox.namespace())
                                .endMetadata()
                                .addToAdditionalProperties("storageClassName", CLASS)
                                .addToAdditionalProperties("capacity", Long.toString(bytes))
                                .addToAdditionalProperties(
                                    "nodeTopology",
                                    Map.of("matchLabels", Map.of(DRIVER + "/node", node)))
                                .build())
                        .create());
      }
    }
  }

  private ChildProcess start() throws IOException {
    int metrics = freePort();
    ChildProcess process =
        ChildProcess.start(
            "controller",
            directory.resolve("controller.log"),
            List.of(),
            List.of(
                Path.of("bin/pmem-csi").toAbsolutePath().toString(),
                "driver",
                "-mode=controller",
                "-drivername=" + DRIVER,
                "-certFile=" + directory.resolve("tls.crt"),
                "-keyFile=" + directory.resolve("tls.key"),
                "-schedulerListen=127.0.0.1:" + port,
                "-metricsListen=127.0.0.1:" + metrics),
            Map.of(
                "POD_NAMESPACE",
                sandbox.namespace(),
                "KUBECONFIG",
                cluster.kubeconfig().toString()));
    process.awaitReady(LIMIT, () -> isReady(metrics));
    return process;
  }

  private static boolean isReady(int metrics) {
    try (var http = HttpClient.newHttpClient()) {
      return http.send(
                  HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + metrics + "/readyz"))
                      .build(),
                  BodyHandlers.discarding())
              .statusCode()
          == 200;
    } catch (IOException _) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }
}
