package io.pmemcsi.app.settings;

import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.driver.DriverSettings;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What {@code pmem-csi driver} runs with, in each of its modes.
 *
 * @param driver for the driver on a node
 * @param startupTaint whether to remove the startup taint from this node once the driver is
 *     registered
 * @param nodeSelector the labels that a node gets after the conversion of its raw namespaces
 * @param schedulerListen where the scheduler extender and the webhook listen with TLS
 * @param insecureSchedulerListen the same without TLS, behind a proxy
 * @param kubeconfig empty for the pod's own account, or the user's usual configuration
 */
public record DriverProgramSettings(
    Mode mode,
    DriverSettings driver,
    boolean startupTaint,
    NodeSelector nodeSelector,
    Optional<ListenAddress> schedulerListen,
    Optional<ListenAddress> insecureSchedulerListen,
    Optional<Path> kubeconfig) {
  public DriverProgramSettings {
    boolean isController = mode == Mode.WEBHOOKS || mode == Mode.CONTROLLER;
    if (!isController && driver.nodeId().isBlank()) {
      throw new UsageException("-nodeid is empty: give the name of the Kubernetes node");
    }
    if (startupTaint && mode != Mode.NODE) {
      throw new UsageException("-startupTaint=true belongs to -mode=node: leave it out");
    }
    if (!isController && (schedulerListen.isPresent() || insecureSchedulerListen.isPresent())) {
      throw new UsageException(
          "-schedulerListen and -insecureSchedulerListen belong to -mode=controller: leave them"
              + " out");
    }
  }
}
