package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The pods of a workload, as its controller counts them.
 *
 * @param desired how many the workload asks for
 * @param updated how many are of the newest revision
 * @param ready how many are ready, of any revision
 * @param total how many exist
 */
public record WorkloadState(int desired, int updated, int ready, int total) {

  /** Of any type of workload; empty also for objects that run no pods. */
  public static Optional<WorkloadState> of(HasMetadata workload) {
    return switch (workload) {
      case DaemonSet set -> of(set);
      case Deployment deployment -> of(deployment);
      case StatefulSet set -> of(set);
      default -> Optional.empty();
    };
  }

  /** Empty until the controller has observed the newest template: older counts say nothing. */
  public static Optional<WorkloadState> of(DaemonSet workload) {
    var status = workload.getStatus();
    return status == null
            || !observed(workload.getMetadata().getGeneration(), status.getObservedGeneration())
        ? Optional.empty()
        : Optional.of(
            new WorkloadState(
                number(status.getDesiredNumberScheduled()),
                number(status.getUpdatedNumberScheduled()),
                number(status.getNumberReady()),
                number(status.getCurrentNumberScheduled())));
  }

  /** Empty until the controller has observed the newest template: older counts say nothing. */
  public static Optional<WorkloadState> of(Deployment workload) {
    var status = workload.getStatus();
    Integer replicas = workload.getSpec().getReplicas();
    return status == null
            || !observed(workload.getMetadata().getGeneration(), status.getObservedGeneration())
        ? Optional.empty()
        : Optional.of(
            new WorkloadState(
                replicas == null ? 1 : replicas,
                number(status.getUpdatedReplicas()),
                number(status.getReadyReplicas()),
                number(status.getReplicas())));
  }

  /** Empty until the controller has observed the newest template: older counts say nothing. */
  public static Optional<WorkloadState> of(StatefulSet workload) {
    var status = workload.getStatus();
    Integer replicas = workload.getSpec().getReplicas();
    return status == null
            || !observed(workload.getMetadata().getGeneration(), status.getObservedGeneration())
        ? Optional.empty()
        : Optional.of(
            new WorkloadState(
                replicas == null ? 1 : replicas,
                number(status.getUpdatedReplicas()),
                number(status.getReadyReplicas()),
                number(status.getReplicas())));
  }

  private static boolean observed(@Nullable Long generation, @Nullable Long observed) {
    return observed != null && generation != null && observed >= generation;
  }

  private static int number(@Nullable Integer value) {
    return value == null ? 0 : value;
  }
}
