package io.pmemcsi.app.settings;

import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.csi.Endpoint;
import io.pmemcsi.driver.device.DeviceMode;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What {@code pmem-csi driver} runs with.
 *
 * @param endpoint where the CSI services listen
 * @param nodeSelector the labels that a node gets when its memory has been made ready
 * @param metricsListen empty when metrics are switched off
 * @param schedulerListen where the scheduler extender and the webhook listen with TLS
 * @param insecureSchedulerListen the same without TLS, behind a proxy
 * @param kubeconfig empty for the pod's own account, or the user's usual configuration
 */
public record DriverSettings(
    Mode mode,
    DriverName driverName,
    String nodeId,
    Endpoint endpoint,
    DeviceMode deviceMode,
    Path statePath,
    int pmemPercentage,
    NodeSelector nodeSelector,
    Optional<ListenAddress> metricsListen,
    String metricsPath,
    Optional<ListenAddress> schedulerListen,
    Optional<ListenAddress> insecureSchedulerListen,
    Optional<Path> kubeconfig) {

  public DriverSettings {
    if (nodeId.isBlank() && (mode == Mode.NODE || mode == Mode.FORCE_CONVERT_RAW_NAMESPACES)) {
      throw new UsageException("-nodeid is empty: give the name of the Kubernetes node");
    }
    if (pmemPercentage < 0 || pmemPercentage > 100) {
      throw new UsageException("-pmemPercentage=%d is outside 0 to 100".formatted(pmemPercentage));
    }
    if (!metricsPath.startsWith("/")) {
      throw new UsageException(
          "-metricsPath=%s is no path: it starts with a slash".formatted(metricsPath));
    }
    boolean serves = mode == Mode.WEBHOOKS || mode == Mode.CONTROLLER;
    if (!serves && (schedulerListen.isPresent() || insecureSchedulerListen.isPresent())) {
      throw new UsageException(
          "-schedulerListen and -insecureSchedulerListen belong to -mode=controller: leave them"
              + " out");
    }
  }

  /** The part that the driver on a node needs. */
  public io.pmemcsi.driver.DriverSettings node() {
    return new io.pmemcsi.driver.DriverSettings(
        driverName,
        nodeId,
        endpoint,
        statePath,
        deviceMode,
        pmemPercentage,
        metricsListen,
        metricsPath);
  }
}
