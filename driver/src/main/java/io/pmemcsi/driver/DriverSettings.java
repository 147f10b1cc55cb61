package io.pmemcsi.driver;

import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.csi.Endpoint;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.registry.NodeRegistrySettings;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The settings of the driver on a node; the flags of the program have the same names.
 *
 * @param pmemPercentage how much of the memory the driver may use, in the modes that can be limited
 * @param metricsListen where metrics are served, if at all
 * @param registry how the node takes part in central provisioning, if it does
 */
public record DriverSettings(
    DriverName driverName,
    String nodeId,
    Endpoint endpoint,
    Path statePath,
    DeviceMode deviceMode,
    int pmemPercentage,
    Optional<ListenAddress> metricsListen,
    String metricsPath,
    Optional<NodeRegistrySettings> registry) {

  public DriverSettings {
    if (pmemPercentage < 0 || pmemPercentage > 100) {
      throw new UsageException("-pmemPercentage=%d is outside 0 to 100".formatted(pmemPercentage));
    }
    if (!metricsPath.startsWith("/")) {
      throw new UsageException(
          "-metricsPath=%s is no path: it starts with a slash".formatted(metricsPath));
    }
  }

  /** A node that provisions its own volumes only. */
  public DriverSettings(
      DriverName driverName,
      String nodeId,
      Endpoint endpoint,
      Path statePath,
      DeviceMode deviceMode,
      int pmemPercentage,
      Optional<ListenAddress> metricsListen,
      String metricsPath) {
    this(
        driverName,
        nodeId,
        endpoint,
        statePath,
        deviceMode,
        pmemPercentage,
        metricsListen,
        metricsPath,
        Optional.empty());
  }

  /** The same with another state directory. */
  DriverSettings withStatePath(Path path) {
    return new DriverSettings(
        driverName,
        nodeId,
        endpoint,
        path,
        deviceMode,
        pmemPercentage,
        metricsListen,
        metricsPath,
        registry);
  }

  /** The same node as a part of central provisioning. */
  public DriverSettings withRegistry(Optional<NodeRegistrySettings> central) {
    return new DriverSettings(
        driverName,
        nodeId,
        endpoint,
        statePath,
        deviceMode,
        pmemPercentage,
        metricsListen,
        metricsPath,
        central);
  }
}
