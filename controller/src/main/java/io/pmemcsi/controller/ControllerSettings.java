package io.pmemcsi.controller;

import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.names.DriverName;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * What the controller is asked to do.
 *
 * @param namespace that of the driver
 * @param identity distinguishes this replica from others
 * @param nodeSelector labels of the nodes that run the driver; the rescheduler runs if there are
 *     any
 * @param schedulerListen where extender and webhook are served over HTTPS
 * @param insecureSchedulerListen where they are served over plain HTTP
 * @param certificate the files for HTTPS
 * @param metricsListen where metrics and health are served
 */
public record ControllerSettings(
    DriverName driver,
    String namespace,
    String identity,
    Map<String, String> nodeSelector,
    Optional<ListenAddress> schedulerListen,
    Optional<ListenAddress> insecureSchedulerListen,
    CertificateFiles certificate,
    Optional<ListenAddress> metricsListen,
    String metricsPath) {

  /** The certificate of the server and its key, in PEM format. */
  public record CertificateFiles(Path certificate, Path key) {}

  public ControllerSettings {
    nodeSelector = Map.copyOf(nodeSelector);
    if (namespace.isBlank()) {
      throw new UsageException(
          "POD_NAMESPACE is not set: let it name the namespace of the driver, from metadata.namespace");
    }
    if (schedulerListen.isEmpty() && insecureSchedulerListen.isEmpty() && nodeSelector.isEmpty()) {
      throw new UsageException(
          "there is nothing to do: give -schedulerListen for the scheduler extender and the webhook,"
              + " or -nodeSelector for the rescheduler");
    }
  }
}
