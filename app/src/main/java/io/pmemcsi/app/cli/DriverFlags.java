package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.DriverProgramSettings;
import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.app.settings.Mode;
import io.pmemcsi.app.settings.NodeSelector;
import io.pmemcsi.base.file.FilePath;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.DriverSettings;
import io.pmemcsi.driver.csi.Endpoint;
import io.pmemcsi.driver.device.DeviceMode;
import java.util.List;

/** The documented flags of the driver, with their documented defaults. */
final class DriverFlags {
  /** Those that belong to parts which are not in this release, or never were in this program. */
  static final List<String> WITHOUT_EFFECT =
      List.of("--testEndpoint", "--kube-api-qps", "--kube-api-burst");

  private static final FlagDefinition MODE =
      FlagDefinition.of(
          "--mode",
          "MODE",
          "node",
          "What to do: node serves CSI on this node (default); controller, also called webhooks,"
              + " serves the scheduler extender and the pod webhook and reschedules stuck claims;"
              + " controller with -registryEndpoint provisions volumes on all nodes instead;"
              + " force-convert-raw-namespaces converts raw PMEM namespaces of this node for LVM,"
              + " and what they hold is lost.");
  private static final FlagDefinition DRIVER_NAME =
      FlagDefinition.of(
          "--drivername",
          "NAME",
          "pmem-csi.intel.com",
          "Name of the CSI driver (default pmem-csi.intel.com).");
  private static final FlagDefinition NODE_ID =
      FlagDefinition.of(
          "--nodeid", "NODE", "nodeid", "Name of this Kubernetes node (default nodeid).");
  private static final FlagDefinition ENDPOINT =
      FlagDefinition.of(
          "--endpoint",
          "URL",
          "unix:///tmp/pmem-csi.sock",
          "Where CSI is served (default unix:///tmp/pmem-csi.sock).");
  private static final FlagDefinition DEVICE_MANAGER =
      FlagDefinition.of(
          "--deviceManager",
          "MODE",
          "lvm",
          "How volumes are created: lvm (default), direct, or file for nodes without PMEM; ndctl"
              + " and fake are older names of the last two.");
  private static final FlagDefinition STATE_PATH =
      FlagDefinition.of(
          "--statePath",
          "DIRECTORY",
          "",
          "State of the driver (default /var/lib/ and the driver name).");
  private static final FlagDefinition PMEM_PERCENTAGE =
      FlagDefinition.of(
          "--pmemPercentage",
          "N",
          "100",
          "Share of the PMEM that the driver may use, 0 to 100 (default 100).");
  private static final FlagDefinition METRICS_LISTEN =
      FlagDefinition.of(
          "--metricsListen",
          "ADDRESS",
          "",
          "Where metrics are served over HTTP, for example :10010 (default: nowhere).");
  private static final FlagDefinition METRICS_PATH =
      FlagDefinition.of(
          "--metricsPath",
          "PATH",
          "/metrics",
          "Path of the metrics; PATH/simple has the build only (default /metrics).");
  private static final FlagDefinition STARTUP_TAINT =
      FlagDefinition.of(
          "--startupTaint",
          "BOOLEAN",
          "false",
          "Whether to remove the taint DRIVER-NAME/agent-not-ready from this node once the driver"
              + " is registered there (default false); for -mode=node in a pod.");
  private static final FlagDefinition NODE_SELECTOR =
      FlagDefinition.of(
          "--nodeSelector",
          "JSON",
          "",
          "Labels of the nodes that run the driver, as a JSON object; a node whose raw namespaces"
              + " were converted gets them, and the controller reschedules claims that wait for a"
              + " node without them.");
  private static final FlagDefinition SCHEDULER_LISTEN =
      FlagDefinition.of(
          "--schedulerListen",
          "ADDRESS",
          "",
          "Where the controller serves the scheduler extender and the webhook over HTTPS, for"
              + " example :8000 (default: nowhere).");
  private static final FlagDefinition INSECURE_SCHEDULER_LISTEN =
      FlagDefinition.of(
          "--insecureSchedulerListen",
          "ADDRESS",
          "",
          "The same over plain HTTP, behind a proxy that does TLS (default: nowhere).");

  private final FlagGroup flags =
      new FlagGroup(
          MODE,
          DRIVER_NAME,
          NODE_ID,
          ENDPOINT,
          DEVICE_MANAGER,
          STATE_PATH,
          PMEM_PERCENTAGE,
          METRICS_LISTEN,
          METRICS_PATH,
          STARTUP_TAINT,
          NODE_SELECTOR,
          SCHEDULER_LISTEN,
          INSECURE_SCHEDULER_LISTEN);

  FlagGroup group() {
    return flags;
  }

  /** The flags as checked values. */
  DriverProgramSettings settings(CliEnvironment environment) {
    DriverName name = Flag.required("-drivername", flags.value(DRIVER_NAME), DriverName::new);
    String state = flags.value(STATE_PATH);
    Mode mode = Mode.parse(flags.value(MODE));
    DriverSettings driver =
        new DriverSettings(
            name,
            flags.value(NODE_ID),
            Endpoint.parse(flags.value(ENDPOINT)),
            Flag.required(
                "-statePath", state.isEmpty() ? "/var/lib/" + name : state, FilePath::parse),
            Flag.required("-deviceManager", flags.value(DEVICE_MANAGER), DriverFlags::deviceMode),
            Flag.required("-pmemPercentage", flags.value(PMEM_PERCENTAGE), DriverFlags::percentage),
            Flag.optional("-metricsListen", flags.value(METRICS_LISTEN), ListenAddress::parse),
            flags.value(METRICS_PATH));
    return new DriverProgramSettings(
        mode,
        driver,
        Flag.required("-startupTaint", flags.value(STARTUP_TAINT), Flag::bool),
        NodeSelector.parse(flags.value(NODE_SELECTOR)),
        Flag.optional("-schedulerListen", flags.value(SCHEDULER_LISTEN), ListenAddress::parse),
        Flag.optional(
            "-insecureSchedulerListen",
            flags.value(INSECURE_SCHEDULER_LISTEN),
            ListenAddress::parse),
        Flag.optional(
            "KUBECONFIG", Kubeconfig.onlyOne(environment.variable("KUBECONFIG")), FilePath::parse));
  }

  private static DeviceMode deviceMode(String text) {
    return DeviceMode.parse(text)
        .orElseThrow(() -> new IllegalArgumentException("use lvm, direct or file"));
  }

  private static int percentage(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("not a whole number, write 0 to 100", e);
    }
  }
}
