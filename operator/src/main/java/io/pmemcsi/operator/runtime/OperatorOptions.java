package io.pmemcsi.operator.runtime;

import io.pmemcsi.base.http.ListenAddress;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What the operator is started with.
 *
 * @param kubeconfig empty for the service account of the pod, or the kubeconfig of the environment
 * @param image of the driver where a resource names none; empty for that of the operator's own pod
 * @param metrics where metrics and health can be read; empty for nowhere
 * @param leaderElection whether replicas agree on one of them that works
 * @param config the file with defaults for resources of the kind CSIDriverDeployment
 */
public record OperatorOptions(
    Optional<KubeconfigContent> kubeconfig,
    Optional<String> image,
    Optional<ListenAddress> metrics,
    boolean leaderElection,
    Optional<Path> config) {}
