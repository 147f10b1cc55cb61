package io.pmemcsi.app.settings;

import io.pmemcsi.base.http.ListenAddress;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What {@code pmem-csi operator} runs with.
 *
 * @param image the driver image where a resource names none; empty to find it in the own pod
 * @param metricsAddress empty when metrics are switched off
 * @param kubeconfig empty for the pod's own account, or the user's usual configuration
 * @param config the configuration file for CSIDriverDeployment resources
 */
public record OperatorSettings(
    Optional<String> image,
    boolean leaderElection,
    Optional<ListenAddress> metricsAddress,
    Optional<Path> config,
    Optional<Path> kubeconfig) {}
