package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The pods of a workload, as its controller counts them.
 *
 * @param wanted how many there shall be
 * @param updated how many are of the newest revision
 * @param ready how many are ready, of whatever revision
 * @param total how many there are
 */
public record WorkloadState(int wanted, int updated, int ready, int total) {

  /** Empty until the controller has seen the newest template: older counts say nothing. */
  public static Optional<WorkloadState> of(DaemonSet workload) {
    var status = workload.getStatus();
    return status == null
            || !seen(workload.getMetadata().getGeneration(), status.getObservedGeneration())
        ? Optional.empty()
        : Optional.of(
            new WorkloadState(
                number(status.getDesiredNumberScheduled()),
                number(status.getUpdatedNumberScheduled()),
                number(status.getNumberReady()),
                number(status.getCurrentNumberScheduled())));
  }

  /** Empty until the controller has seen the newest template: older counts say nothing. */
  public static Optional<WorkloadState> of(Deployment workload) {
    var status = workload.getStatus();
    Integer replicas = workload.getSpec().getReplicas();
    return status == null
            || !seen(workload.getMetadata().getGeneration(), status.getObservedGeneration())
        ? Optional.empty()
        : Optional.of(
            new WorkloadState(
                replicas == null ? 1 : replicas,
                number(status.getUpdatedReplicas()),
                number(status.getReadyReplicas()),
                number(status.getReplicas())));
  }

  private static boolean seen(@Nullable Long generation, @Nullable Long observed) {
    return observed != null && generation != null && observed >= generation;
  }

  private static int number(@Nullable Integer value) {
    return value == null ? 0 : value;
  }
}
