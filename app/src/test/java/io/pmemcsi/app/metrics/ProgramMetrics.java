package io.pmemcsi.app.metrics;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.base.http.GaugeFamily;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.http.Page;
import io.pmemcsi.base.http.Pages;
import io.pmemcsi.base.http.RuntimeMetrics;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.controller.ControllerProgram;
import io.pmemcsi.controller.ControllerSettings;
import io.pmemcsi.driver.audit.AuditReport;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.Pool;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.metrics.DriverMetrics;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import io.pmemcsi.operator.apply.Outcome;
import io.pmemcsi.operator.metrics.OperatorMetrics;
import io.pmemcsi.testbed.kubernetes.Clients;
import io.pmemcsi.testbed.kubernetes.FreePorts;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** The metrics pages of the programs, with a sample of each metric, so that its labels show. */
final class ProgramMetrics {

  private static final DriverName DRIVER = new DriverName("pmem-csi.intel.com");

  private ProgramMetrics() {}

  /** What all programs have. */
  static String common() throws IOException {
    var registry = new PrometheusRegistry();
    Version.register(registry);
    RuntimeMetrics.register(registry);
    return complete(registry, List.of());
  }

  static String nodeDriver() throws IOException {
    var metrics = new DriverMetrics(DRIVER, "node");
    metrics.called("/csi.v1.Node/NodeStageVolume", "OK", Duration.ZERO);
    metrics.erased(new VolumeId("volume"), 1, 2);
    metrics.audited(
        new AuditReport(
            1,
            1,
            List.of(new AuditReport.Finding(AuditReport.Kind.BAD_BLOCKS, "volume", "", false))));
    var capacity = new Capacity(1, 1, 1, 1);
    var pool = new Pool("region0", OptionalInt.of(0), capacity);
    return complete(
        metrics.registry(), metrics.amounts(new Devices.Measured.Known(capacity, List.of(pool))));
  }

  /** Of a {@code Deployment}: nodes register with it. */
  static String centralController() throws IOException {
    var metrics = new DriverMetrics(DRIVER, "controller");
    metrics.called("/csi.v1.Controller/CreateVolume", "OK", Duration.ZERO);
    return page(metrics.registry(), DriverMetrics.nodes(List.of("node-1")));
  }

  static String operator() throws IOException {
    var registry = new PrometheusRegistry();
    var metrics = new OperatorMetrics(registry, "pmem-csi-operator");
    var resource = new PmemCSIDeployment();
    resource.setMetadata(
        new ObjectMetaBuilder()
            .withName(DRIVER.value())
            .withUid("1")
            .withDeletionTimestamp("2030-01-01T00:00:00Z")
            .build());
    metrics.reconcileCustomResource(resource, null, Map.of());
    metrics.reconciliationExecutionStarted(resource, Map.of());
    metrics.failedReconciliation(resource, new IllegalStateException(), Map.of());
    metrics.applied(resource, new Outcome(List.of(), List.of(), List.of(), List.of(), List.of()));
    metrics.ownedObjects(resource, List.of(object()));
    metrics.status(resource, "Running", Optional.of(Instant.EPOCH));
    return complete(registry, List.of());
  }

  private static HasMetadata object() {
    return new ServiceBuilder()
        .withNewMetadata()
        .withName("object")
        .withCreationTimestamp("2030-01-01T00:00:00Z")
        .addNewManagedField()
        .withManager("pmem-csi-operator")
        .withTime("2030-01-01T00:00:00Z")
        .endManagedField()
        .endMetadata()
        .build();
  }

  /** As it runs: with the scheduler's requests. */
  static String controller() throws IOException, InterruptedException {
    int scheduler = FreePorts.next();
    var settings =
        new ControllerSettings(
            DRIVER,
            "default",
            "controller",
            Map.of(),
            Optional.empty(),
            Optional.of(new ListenAddress("127.0.0.1", scheduler)),
            new ControllerSettings.CertificateFiles(Path.of("none"), Path.of("none")),
            Optional.of(new ListenAddress("127.0.0.1", 0)),
            "/metrics");
    try (EmbeddedKubernetes server = EmbeddedKubernetes.start();
        KubernetesClient client =
            Clients.to(
                    new ConfigBuilder(Config.empty())
                        .withMasterUrl(server.url().toString())
                        .build())
                .build();
        var program =
            ControllerProgram.start(
                client,
                settings,
                new ControllerProgram.Timing(
                    ControllerProgram.Timing.DEFAULT.scrape(),
                    Duration.ofHours(1),
                    Duration.ZERO));
        HttpClient http = HttpClient.newHttpClient()) {
      get(http, scheduler, "/status");
      return get(http, program.metricsPort().orElseThrow(), "/metrics");
    }
  }

  private static String get(HttpClient http, int port, String path)
      throws IOException, InterruptedException {
    URI address = URI.create("http://127.0.0.1:%d%s".formatted(port, path));
    return http.send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString()).body();
  }

  /** A metric without a sample is not on the page: give it one above. */
  private static String complete(PrometheusRegistry registry, List<GaugeFamily> others)
      throws IOException {
    assertThat(registry.scrape().stream())
        .as("metrics without a sample")
        .filteredOn(metric -> metric.getDataPoints().isEmpty())
        .extracting(metric -> metric.getMetadata().getName())
        .isEmpty();
    return page(registry, others);
  }

  private static String page(PrometheusRegistry registry, List<GaugeFamily> others)
      throws IOException {
    Page page = requireNonNull(Pages.metrics("/metrics", registry, () -> others).get("/metrics"));
    return page.read().body();
  }
}
