package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.DriverSettings;
import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.app.settings.Mode;
import io.pmemcsi.app.settings.NodeSelector;
import io.pmemcsi.base.file.FilePath;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.csi.Endpoint;
import io.pmemcsi.driver.device.DeviceMode;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The documented flags of the driver, with their documented defaults. */
final class DriverFlags implements PlainFlags {

  /** Those that belong to parts which are not in this release, or never were in this program. */
  static final List<String> WITHOUT_EFFECT =
      List.of(
          "--registryEndpoint",
          "--controllerEndpoint",
          "--testEndpoint",
          "--clientCertFile",
          "--clientKeyFile",
          "--kube-api-qps",
          "--kube-api-burst");

  @Option(
      names = "--mode",
      paramLabel = "MODE",
      order = 1,
      description =
          "What to do: node serves CSI on this node (default); controller, also called webhooks,"
              + " serves the scheduler extender and the pod webhook and reschedules stuck claims;"
              + " force-convert-raw-namespaces hands raw PMEM namespaces of this node over to LVM,"
              + " and what they hold is lost.")
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
      description =
          "How volumes are made: lvm (default), direct, or file for nodes without PMEM; ndctl and"
              + " fake are older names of the last two.")
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
      description =
          "Labels of the nodes that run the driver, as a JSON object; a node whose raw namespaces"
              + " were converted gets them, and the controller reschedules claims that wait for a"
              + " node without them.")
  private String nodeSelector = "";

  @Option(
      names = "--schedulerListen",
      paramLabel = "ADDRESS",
      order = 11,
      description =
          "Where the controller serves the scheduler extender and the webhook over HTTPS, for"
              + " example :8000 (default: nowhere).")
  private String schedulerListen = "";

  @Option(
      names = "--insecureSchedulerListen",
      paramLabel = "ADDRESS",
      order = 12,
      description = "The same over plain HTTP, behind a proxy that does TLS (default: nowhere).")
  private String insecureSchedulerListen = "";

  @Override
  public Optional<Runnable> setting(String name, String value) {
    return switch (name) {
      case "--mode" -> Optional.of(() -> mode = value);
      case "--drivername" -> Optional.of(() -> driverName = value);
      case "--nodeid" -> Optional.of(() -> nodeId = value);
      case "--endpoint" -> Optional.of(() -> endpoint = value);
      case "--deviceManager" -> Optional.of(() -> deviceManager = value);
      case "--statePath" -> Optional.of(() -> statePath = value);
      case "--pmemPercentage" ->
          value.matches("\\d{1,9}")
              ? Optional.of(() -> pmemPercentage = Integer.parseInt(value))
              : Optional.empty();
      case "--metricsListen" -> Optional.of(() -> metricsListen = value);
      case "--metricsPath" -> Optional.of(() -> metricsPath = value);
      case "--nodeSelector" -> Optional.of(() -> nodeSelector = value);
      case "--schedulerListen" -> Optional.of(() -> schedulerListen = value);
      case "--insecureSchedulerListen" -> Optional.of(() -> insecureSchedulerListen = value);
      default -> Optional.empty();
    };
  }

  /** The flags as checked values. */
  DriverSettings settings(CliEnvironment surroundings) {
    DriverName name = Flag.required("-drivername", driverName, DriverName::new);
    return new DriverSettings(
        Mode.parse(mode),
        name,
        nodeId,
        Endpoint.parse(endpoint),
        Flag.required("-deviceManager", deviceManager, DriverFlags::deviceMode),
        Flag.required(
            "-statePath", statePath.isEmpty() ? "/var/lib/" + name : statePath, FilePath::parse),
        pmemPercentage,
        NodeSelector.parse(nodeSelector),
        Flag.optional("-metricsListen", metricsListen, ListenAddress::parse),
        metricsPath,
        Flag.optional("-schedulerListen", schedulerListen, ListenAddress::parse),
        Flag.optional("-insecureSchedulerListen", insecureSchedulerListen, ListenAddress::parse),
        Flag.optional(
            "KUBECONFIG",
            Kubeconfig.onlyOne(surroundings.variable("KUBECONFIG")),
            FilePath::parse));
  }

  private static DeviceMode deviceMode(String text) {
    return DeviceMode.parse(text)
        .orElseThrow(() -> new IllegalArgumentException("use lvm, direct or file"));
  }
}
