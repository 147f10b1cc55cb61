package io.pmemcsi.driver;

import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.csi.Endpoint;
import io.pmemcsi.driver.device.DeviceMode;
import java.nio.file.Path;
import java.util.Optional;

/**
 * All that the flags of the node driver say.
 *
 * @param pmemPercentage how much of the memory the driver may use, in the modes that can be limited
 * @param metricsListen where metrics are served, if at all
 */
public record DriverSettings(
    DriverName driverName,
    String nodeId,
    Endpoint endpoint,
    Path statePath,
    DeviceMode deviceMode,
    int pmemPercentage,
    Optional<ListenAddress> metricsListen,
    String metricsPath) {

  public DriverSettings {
    if (nodeId.isBlank()) {
      throw new IllegalArgumentException("the node id is empty, give it with -nodeid");
    }
    if (pmemPercentage < 0 || pmemPercentage > 100) {
      throw new IllegalArgumentException(
          "pmemPercentage %d is not between 0 and 100".formatted(pmemPercentage));
    }
  }

  /** The same with another state directory. */
  DriverSettings withStatePath(Path path) {
    return new DriverSettings(
        driverName, nodeId, endpoint, path, deviceMode, pmemPercentage, metricsListen, metricsPath);
  }
}
