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
 * Whether kubelet has registered the current driver pod. A CSINode lists drivers, not pods: the
 * entry of a deleted pod stays until kubelet notices, and looks the same. But managedFields has the
 * time of the last update, and kubelet appends a new entry for each pod: so that time is the one of
 * the last entry. The API has no time for the others.
 */
final class Registration {

  /**
   * A pod that is ready for this long counts as registered: kubelet checks every second, and would
   * have removed the entry of an earlier pod. It adds no entry for pods that it finds after its own
   * restart, and another driver may have been registered later.
   */
  static final Duration SETTLED = Duration.ofSeconds(30);

  private Registration() {}

  /**
   * Decides by the newest pod.
   *
   * @param pods of the driver on the node
   * @param node as kubelet reports it
   */
  static boolean isOf(List<Pod> pods, String driver, CSINode node, Instant now) {
    List<String> registered = drivers(node);
    if (!registered.contains(driver)) {
      return false;
    }
    Optional<Instant> created =
        pods.stream()
            .map(pod -> Instant.parse(pod.getMetadata().getCreationTimestamp()))
            .max(Instant::compareTo);
    boolean isLast = registered.getLast().equals(driver);
    return (isLast
            && added(node).filter(time -> !time.isBefore(created.orElse(Instant.MIN))).isPresent())
        || (!pods.isEmpty() && pods.stream().allMatch(pod -> isReadyForLong(pod, now)));
  }

  /** Null for a node without drivers. */
  private static List<String> drivers(CSINode node) {
    List<CSINodeDriver> known = node.getSpec().getDrivers();
    return known == null ? List.of() : known.stream().map(CSINodeDriver::getName).toList();
  }

  /** In seconds and by the server's clock, like creation timestamps. */
  private static Optional<Instant> added(CSINode node) {
    return node.getMetadata().getManagedFields().stream()
        .filter(Registration::isAboutDrivers)
        .map(ManagedFieldsEntry::getTime)
        .filter(Objects::nonNull)
        .map(Instant::parse)
        .max(Instant::compareTo);
  }

  /** Other managers may set labels or annotations. */
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
            .anyMatch(since -> !now.isBefore(Instant.parse(since).plus(SETTLED)));
  }
}
