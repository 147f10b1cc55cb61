package io.pmemcsi.operator.rollout.draining;

import java.util.List;
import java.util.Optional;

/**
 * A node as an update sees it.
 *
 * @param version of the object, so that a write on top of an older one is refused
 * @param wanted whether the driver shall run on it
 * @param cordoned whether pods are kept away, by whomever
 * @param mark of the work on this driver
 * @param sharedCordon whether the operator's cordon is needed for another driver, too
 * @param users pods that use volumes of the driver
 * @param mounted names of attachments and of mounted volumes of the driver
 * @param registered whether kubelet knows the driver
 */
public record WorkerNode(
    String name,
    String version,
    boolean ready,
    boolean wanted,
    boolean cordoned,
    Optional<DrainAnnotation> mark,
    boolean sharedCordon,
    List<DriverPod> drivers,
    List<VolumeConsumer> users,
    List<String> mounted,
    boolean registered) {

  public WorkerNode {
    drivers = List.copyOf(drivers);
    users = List.copyOf(users);
    mounted = List.copyOf(mounted);
  }

  boolean isOutdated(String revision) {
    return wanted && drivers.stream().anyMatch(pod -> pod.isOutdated(revision));
  }

  /** Whether the wanted driver, and no other one, serves here. */
  boolean isServed(String revision) {
    return registered
        && drivers.stream().anyMatch(pod -> pod.runs(revision))
        && drivers.stream().allMatch(pod -> pod.runs(revision));
  }

  /** Whether restarting the driver breaks no mount. */
  boolean isUnused() {
    return ready && users.isEmpty() && mounted.isEmpty();
  }

  boolean runsRevision(String revision) {
    return wanted
        && drivers.stream().anyMatch(pod -> !pod.terminating() && pod.revision().equals(revision));
  }
}
