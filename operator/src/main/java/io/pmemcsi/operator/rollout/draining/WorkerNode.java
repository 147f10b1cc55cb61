package io.pmemcsi.operator.rollout.draining;

import java.util.List;
import java.util.Optional;

/**
 * The observed state of a node.
 *
 * @param version resourceVersion of the object, so that a write to a changed node is a conflict
 * @param desired whether the DaemonSet places a driver pod on it
 * @param cordoned whether the node is unschedulable, for any reason
 * @param annotation of this driver's update
 * @param sharedCordon whether the update of another driver needs the cordon too
 * @param consumers pods that use volumes of the driver
 * @param mounted names of attachments and of mounted volumes of the driver
 * @param registered whether kubelet has registered the driver
 */
record WorkerNode(
    String name,
    String version,
    boolean ready,
    boolean desired,
    boolean cordoned,
    Optional<DrainAnnotation> annotation,
    boolean sharedCordon,
    List<DriverPod> driverPods,
    List<VolumeConsumer> consumers,
    List<String> mounted,
    boolean registered) {

  WorkerNode {
    driverPods = List.copyOf(driverPods);
    consumers = List.copyOf(consumers);
    mounted = List.copyOf(mounted);
  }

  boolean isOutdated(String revision) {
    return desired && driverPods.stream().anyMatch(pod -> pod.isOutdated(revision));
  }

  /** Whether only driver pods of the desired revision serve here. */
  boolean isServed(String revision) {
    return registered
        && driverPods.stream().anyMatch(pod -> pod.runs(revision))
        && driverPods.stream().allMatch(pod -> pod.runs(revision));
  }

  /** Whether a restart of the driver affects no mount. */
  boolean isUnused() {
    return ready && consumers.isEmpty() && mounted.isEmpty();
  }

  boolean runsRevision(String revision) {
    return desired
        && driverPods.stream()
            .anyMatch(pod -> !pod.terminating() && pod.revision().equals(revision));
  }
}
