package io.pmemcsi.driver.metrics;

import io.pmemcsi.base.http.GaugeFamily;
import io.pmemcsi.base.http.RuntimeMetrics;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.driver.audit.AuditReport;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.Pool;
import io.pmemcsi.driver.device.VolumeId;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Labels;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/** The driver's metrics, under the names that existing dashboards ask for. */
public final class DriverMetrics {

  private static final String AVAILABLE = "Persistent memory that is free for new volumes";
  private static final String MANAGED = "Persistent memory that the driver may use";

  private final DriverName driver;
  private final String nodeId;
  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final CallDurations operations = new CallDurations();
  private final Gauge erasing;
  private final Gauge findings;
  private final Gauge abnormal;
  private Set<List<String>> reported = Set.of();

  public DriverMetrics(DriverName driver, String nodeId) {
    this.driver = driver;
    this.nodeId = nodeId;
    Version.register(registry);
    registry.register(operations);
    erasing =
        Gauge.builder()
            .name("pmem_csi_erase_progress_ratio")
            .help(
                "Fraction of a volume that is overwritten. Exists only while the volume is erased.")
            .labelNames("volume")
            .register(registry);
    findings =
        Gauge.builder()
            .name("pmem_csi_audit_findings")
            .help("Unresolved contradictions between the ledger, devices and mounts.")
            .labelNames("kind")
            .register(registry);
    abnormal =
        Gauge.builder()
            .name("pmem_csi_volume_abnormal")
            .help("1 for each volume whose data is lost, damaged or unreachable, else absent.")
            .labelNames("volume", "kind")
            .register(registry);
  }

  /** All metrics, with the state of the process. */
  public PrometheusRegistry registry() {
    RuntimeMetrics.register(registry);
    return registry;
  }

  /**
   * A CSI call has ended.
   *
   * @param code as {@code InvalidArgument}
   */
  public void called(String method, String code, Duration took) {
    operations.observe(
        Labels.of("driver_name", driver.value(), "method_name", method, "grpc_status_code", code),
        took.toNanos() / 1e9);
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
  public synchronized void audited(AuditReport report) {
    Map<AuditReport.Kind, Integer> counts = new TreeMap<>();
    report.open().forEach(finding -> counts.merge(finding.kind(), 1, Integer::sum));
    for (AuditReport.Kind kind : AuditReport.Kind.values()) {
      findings.labelValues(kind.text()).set(counts.getOrDefault(kind, 0));
    }
    Set<List<String>> now =
        report.open().stream()
            .filter(finding -> finding.kind().isAbnormalVolume())
            .map(finding -> List.of(finding.subject(), finding.kind().text()))
            .collect(Collectors.toSet());
    now.forEach(labels -> abnormal.labelValues(labels.get(0), labels.get(1)).set(1));
    reported.stream()
        .filter(labels -> !now.contains(labels))
        .forEach(labels -> abnormal.remove(labels.get(0), labels.get(1)));
    reported = now;
  }

  /** The amounts of memory; left out while they are unknown. */
  public List<GaugeFamily> amounts(Devices.Measured measured) {
    return switch (measured) {
      case Devices.Measured.Failed _ -> List.of();
      case Devices.Measured.Known(Capacity known, List<Pool> pools) ->
          List.of(
              amount(
                  "max_volume_size",
                  "Size of the largest volume that can be created on the node.",
                  known,
                  Capacity::maxVolumeSize),
              amount("available", AVAILABLE + " on the node.", known, Capacity::available),
              amount("managed", MANAGED + " on the node.", known, Capacity::managed),
              amount("total", "Persistent memory of the node.", known, Capacity::total),
              amountByRegion("available", AVAILABLE + " in a region.", pools, Capacity::available),
              amountByRegion("managed", MANAGED + " in a region.", pools, Capacity::managed));
    };
  }

  /** The nodes that a central controller can use. */
  public static List<GaugeFamily> nodes(List<String> registered) {
    return List.of(
        new GaugeFamily(
            "pmem_nodes",
            "Registered nodes that the controller can reach.",
            List.of(new GaugeFamily.Sample(Map.of(), registered.size()))),
        new GaugeFamily(
            "pmem_csi_node_registered",
            "1 for each registered node that the controller can reach.",
            registered.stream()
                .map(node -> new GaugeFamily.Sample(Map.of("node", node), 1))
                .toList()));
  }

  private GaugeFamily amountByRegion(
      String name, String help, List<Pool> pools, ToLongFunction<Capacity> value) {
    return new GaugeFamily(
        "pmem_region_amount_" + name,
        help,
        pools.stream()
            .map(
                pool -> {
                  Map<String, String> labels = nodeLabels();
                  labels.put("region", pool.region());
                  pool.numaNode()
                      .ifPresent(node -> labels.put("numa_node", Integer.toString(node)));
                  return new GaugeFamily.Sample(labels, value.applyAsLong(pool.capacity()));
                })
            .toList());
  }

  private GaugeFamily amount(
      String name, String help, Capacity capacity, ToLongFunction<Capacity> value) {
    return new GaugeFamily(
        "pmem_amount_" + name,
        help,
        List.of(new GaugeFamily.Sample(nodeLabels(), value.applyAsLong(capacity))));
  }

  private Map<String, String> nodeLabels() {
    Map<String, String> labels = new TreeMap<>();
    labels.put("driver_name", driver.value());
    labels.put("node", nodeId);
    return labels;
  }
}
