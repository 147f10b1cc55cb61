package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.DriverSettings;
import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.app.settings.KubernetesAccess;
import io.pmemcsi.app.settings.Mode;
import io.pmemcsi.app.settings.NodeSelector;
import io.pmemcsi.app.settings.Tls;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.csi.Endpoint;
import io.pmemcsi.driver.volume.DeviceMode;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;

/** The documented flags of the driver, with their documented defaults. */
final class DriverFlags {

  static final List<String> WITHOUT_EFFECT = List.of("--testEndpoint");

  @Option(
      names = "--mode",
      paramLabel = "MODE",
      order = 1,
      description =
          "What to do: node serves CSI on this node (default); force-convert-raw-namespaces hands"
              + " raw PMEM namespaces of this node over to LVM; webhooks and controller serve the"
              + " cluster.")
  private String mode = "node";

  @Option(
      names = "--drivername",
      paramLabel = "NAME",
      order = 2,
      description = "Name of the CSI driver (default pmem-csi.intel.com).")
  private String driverName = "pmem-csi.intel.com";

  @Option(
      names = "--nodeid",
      paramLabel = "NODE",
      order = 3,
      description = "Name of this Kubernetes node (default nodeid).")
  private String nodeId = "nodeid";

  @Option(
      names = "--endpoint",
      paramLabel = "URL",
      order = 4,
      description = "Where CSI is served (default unix:///tmp/pmem-csi.sock).")
  private String endpoint = "unix:///tmp/pmem-csi.sock";

  @Option(
      names = "--deviceManager",
      paramLabel = "MODE",
      order = 5,
      description = "How volumes are made: lvm (default), direct, or file for nodes without PMEM.")
  private String deviceManager = "lvm";

  @Option(
      names = "--statePath",
      paramLabel = "FOLDER",
      order = 6,
      description = "What the driver remembers (default /var/lib/ and the driver name).")
  private String statePath = "";

  @Option(
      names = "--pmemPercentage",
      paramLabel = "N",
      order = 7,
      description = "Share of the PMEM that the driver may use, 0 to 100 (default 100).")
  private int pmemPercentage = 100;

  @Option(
      names = "--metricsListen",
      paramLabel = "ADDRESS",
      order = 8,
      description = "Where metrics are served over HTTP, for example :10010 (default: nowhere).")
  private String metricsListen = "";

  @Option(
      names = "--metricsPath",
      paramLabel = "PATH",
      order = 9,
      description = "Path of the metrics; PATH/simple has the build only (default /metrics).")
  private String metricsPath = "/metrics";

  @Option(
      names = "--nodeSelector",
      paramLabel = "JSON",
      order = 10,
      description = "Labels of the nodes that run the driver, as a JSON object.")
  private String nodeSelector = "";

  @Option(
      names = "--schedulerListen",
      paramLabel = "ADDRESS",
      order = 11,
      description = "Where the scheduler extender and the webhook are served over HTTPS.")
  private String schedulerListen = "";

  @Option(
      names = "--insecureSchedulerListen",
      paramLabel = "ADDRESS",
      order = 12,
      description = "The same over plain HTTP, behind a proxy that does TLS.")
  private String insecureSchedulerListen = "";

  @Option(
      names = "--caFile",
      paramLabel = "FILE",
      order = 13,
      description = "Certificate authority that callers are checked against (default ca.pem).")
  private String caFile = "ca.pem";

  @Option(
      names = "--certFile",
      paramLabel = "FILE",
      order = 14,
      description = "Certificate of the HTTPS server (default pmem-controller.pem).")
  private String certFile = "pmem-controller.pem";

  @Option(
      names = "--keyFile",
      paramLabel = "FILE",
      order = 15,
      description = "Key of the HTTPS server (default pmem-controller-key.pem).")
  private String keyFile = "pmem-controller-key.pem";

  @Option(
      names = "--kube-api-qps",
      paramLabel = "N",
      order = 16,
      description = "Lasting rate of calls to the Kubernetes API (default 5).")
  private double queriesPerSecond = 5;

  @Option(
      names = "--kube-api-burst",
      paramLabel = "N",
      order = 17,
      description = "Calls to the Kubernetes API that may come at once (default 10).")
  private int burst = 10;

  /** The flags as checked values. */
  DriverSettings settings(Surroundings surroundings) {
    DriverName name = Flag.required("-drivername", driverName, DriverName::new);
    return new DriverSettings(
        Mode.parse(mode),
        name,
        nodeId,
        Endpoint.parse(endpoint),
        Flag.required("-deviceManager", deviceManager, DriverFlags::deviceMode),
        Path.of(statePath.isEmpty() ? "/var/lib/" + name : statePath),
        pmemPercentage,
        NodeSelector.parse(nodeSelector),
        Flag.optional("-metricsListen", metricsListen, ListenAddress::parse),
        metricsPath,
        Flag.optional("-schedulerListen", schedulerListen, ListenAddress::parse),
        Flag.optional("-insecureSchedulerListen", insecureSchedulerListen, ListenAddress::parse),
        new Tls(Path.of(caFile), Path.of(certFile), Path.of(keyFile)),
        new KubernetesAccess(
            Flag.optional("KUBECONFIG", surroundings.variable("KUBECONFIG"), Path::of),
            queriesPerSecond,
            burst));
  }

  private static DeviceMode deviceMode(String text) {
    return DeviceMode.parse(text)
        .orElseThrow(() -> new IllegalArgumentException("use lvm, direct or file"));
  }
}
