package io.pmemcsi.operator.rollout.draining;

import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.api.model.storage.CSINodeDriver;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Whether kubelet has registered the driver pod that runs now. A CSINode lists drivers, not pods:
 * the entry of a pod that is gone stays until kubelet has noticed, and looks the same. But the
 * server notes when somebody last added to the object, and kubelet adds the entry anew for each
 * pod, at the end of the list: so that note is about the last entry. Nothing in the API dates the
 * others.
 */
final class Registration {

  /**
   * After so long the entry counts although nobody saw it come: kubelet looks every second, and
   * would have taken out the one of an earlier pod. It adds none for a pod that it met again after
   * its own restart, and another driver may have come after this one.
   */
  static final Duration NOTICED = Duration.ofSeconds(30);

  private Registration() {}

  /**
   * Decides by the newest pod.
   *
   * @param pods of the driver on the node
   * @param node what kubelet says there
   */
  static boolean isOf(List<Pod> pods, String driver, CSINode node, Instant now) {
    List<String> known = drivers(node);
    if (!known.contains(driver)) {
      return false;
    }
    Optional<Instant> born =
        pods.stream()
            .map(pod -> Instant.parse(pod.getMetadata().getCreationTimestamp()))
            .max(Instant::compareTo);
    boolean cameLast = known.getLast().equals(driver);
    return (cameLast
            && added(node).filter(time -> !time.isBefore(born.orElse(Instant.MIN))).isPresent())
        || (!pods.isEmpty() && pods.stream().allMatch(pod -> isReadyForLong(pod, now)));
  }

  /** A node without drivers says null, not an empty list. */
  private static List<String> drivers(CSINode node) {
    List<CSINodeDriver> known = node.getSpec().getDrivers();
    return known == null ? List.of() : known.stream().map(CSINodeDriver::getName).toList();
  }

  /** In whole seconds and by the server's clock, like the birth of a pod. */
  private static Optional<Instant> added(CSINode node) {
    return node.getMetadata().getManagedFields().stream()
        .filter(Registration::isAboutDrivers)
        .map(ManagedFieldsEntry::getTime)
        .filter(Objects::nonNull)
        .map(Instant::parse)
        .max(Instant::compareTo);
  }

  /** Others may label the object or write notes on it. */
  private static boolean isAboutDrivers(ManagedFieldsEntry entry) {
    return entry.getFieldsV1() != null
        && entry.getFieldsV1().getAdditionalProperties().get("f:spec") instanceof Map<?, ?> spec
        && spec.containsKey("f:drivers");
  }

  private static boolean isReadyForLong(Pod pod, Instant now) {
    return pod.getStatus() != null
        && pod.getStatus().getConditions().stream()
            .filter(condition -> "Ready".equals(condition.getType()))
            .filter(condition -> "True".equals(condition.getStatus()))
            .map(PodCondition::getLastTransitionTime)
            .filter(Objects::nonNull)
            .anyMatch(since -> !now.isBefore(Instant.parse(since).plus(NOTICED)));
  }
}
