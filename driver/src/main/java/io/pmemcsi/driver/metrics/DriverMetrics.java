package io.pmemcsi.driver.metrics;

import io.pmemcsi.base.http.GaugeFamily;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.driver.audit.AuditReport;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.VolumeId;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.instrumentation.jvm.JvmClassLoadingMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmGarbageCollectorMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmMemoryMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmRuntimeInfoMetric;
import io.prometheus.metrics.instrumentation.jvm.JvmThreadsMetrics;
import io.prometheus.metrics.instrumentation.jvm.ProcessMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/** The driver's metrics, under the names that existing dashboards ask for. */
public final class DriverMetrics {

  private final DriverName driver;
  private final String nodeId;
  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final Histogram operations;
  private final Gauge erasing;
  private final Gauge findings;

  public DriverMetrics(DriverName driver, String nodeId) {
    this.driver = driver;
    this.nodeId = nodeId;
    Version.register(registry);
    operations =
        Histogram.builder()
            .name("csi_plugin_operations_seconds")
            .help("Time that CSI calls took.")
            .labelNames("driver_name", "method_name", "grpc_status_code")
            .classicOnly()
            .classicUpperBounds(.1, .25, .5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600)
            .register(registry);
    erasing =
        Gauge.builder()
            .name("pmem_csi_erase_progress_ratio")
            .help("How much of a volume is overwritten already; there only while it is erased.")
            .labelNames("volume")
            .register(registry);
    findings =
        Gauge.builder()
            .name("pmem_csi_audit_findings")
            .help("Contradictions between ledger, devices and mounts that are not resolved.")
            .labelNames("kind")
            .register(registry);
  }

  /**
   * All metrics, with the state of the process. Of the metrics of a JVM only those that need no JMX
   * server: that would be a fifth of the driver's memory.
   */
  public PrometheusRegistry registry() {
    ProcessMetrics.builder().register(registry);
    JvmMemoryMetrics.builder().register(registry);
    JvmGarbageCollectorMetrics.builder().register(registry);
    JvmThreadsMetrics.builder().register(registry);
    JvmClassLoadingMetrics.builder().register(registry);
    JvmRuntimeInfoMetric.builder().register(registry);
    return registry;
  }

  /**
   * A CSI call has ended.
   *
   * @param code as {@code InvalidArgument}
   */
  public void called(String method, String code, Duration took) {
    operations.labelValues(driver.value(), method, code).observe(took.toNanos() / 1e9);
  }

  /** A volume is being overwritten. */
  public void erased(VolumeId volume, long done, long total) {
    if (done >= total) {
      erasing.remove(volume.value());
    } else {
      erasing.labelValues(volume.value()).set((double) done / total);
    }
  }

  /** The driver has compared ledger, devices and mounts. */
  public void audited(AuditReport report) {
    Map<AuditReport.Kind, Integer> counts = new TreeMap<>();
    report.open().forEach(finding -> counts.merge(finding.kind(), 1, Integer::sum));
    for (AuditReport.Kind kind : AuditReport.Kind.values()) {
      findings.labelValues(kind.text()).set(counts.getOrDefault(kind, 0));
    }
  }

  /** The amounts of memory; left out while they are unknown. */
  public List<GaugeFamily> amounts(Optional<Capacity> capacity) {
    return capacity
        .map(
            known ->
                List.of(
                    amount("max_volume_size", "the largest volume", known, Capacity::maxVolumeSize),
                    amount("available", "free for volumes", known, Capacity::available),
                    amount("managed", "managed by the driver", known, Capacity::managed),
                    amount("total", "found on the node", known, Capacity::total)))
        .orElse(List.of());
  }

  private GaugeFamily amount(
      String name, String help, Capacity capacity, ToLongFunction<Capacity> value) {
    Map<String, String> labels = new TreeMap<>();
    labels.put("driver_name", driver.value());
    labels.put("node", nodeId);
    return new GaugeFamily(
        "pmem_amount_" + name,
        "Bytes of PMEM: %s.".formatted(help),
        List.of(new GaugeFamily.Sample(labels, value.applyAsLong(capacity))));
  }
}
