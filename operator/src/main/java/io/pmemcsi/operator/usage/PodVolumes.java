package io.pmemcsi.operator.usage;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Whether the volumes of a pod may still be mounted on its node. Kubelet unmounts after the
 * containers ended. The object of a deleted pod exists until that is done; for a pod that ended by
 * itself the API does not say when, so a grace period is assumed.
 */
public final class PodVolumes {

  /** Kubelet starts to unmount within seconds; a slow driver may take this long. */
  static final Duration GRACE_PERIOD = Duration.ofMinutes(2);

  private static final Set<String> FINISHED = Set.of("Succeeded", "Failed");

  private PodVolumes() {}

  public static boolean mayBeMounted(Pod pod, Instant now) {
    return pod.getMetadata().getDeletionTimestamp() != null
        || !isFinished(pod)
        || lastUpdate(pod).map(end -> now.isBefore(end.plus(GRACE_PERIOD))).orElse(true);
  }

  /** Whether all containers ended and will not be restarted. */
  public static boolean isFinished(Pod pod) {
    return pod.getStatus() != null
        && pod.getStatus().getPhase() != null
        && FINISHED.contains(pod.getStatus().getPhase());
  }

  /** The end of the last container or, where an evicted pod has none, its last update. */
  private static Optional<Instant> lastUpdate(Pod pod) {
    Optional<Instant> ended =
        latest(
            containers(pod.getStatus())
                .map(container -> container.getState().getTerminated())
                .filter(Objects::nonNull)
                .map(end -> end.getFinishedAt()));
    return ended.or(
        () ->
            latest(
                Stream.concat(
                    pod.getStatus().getConditions().stream()
                        .map(PodCondition::getLastTransitionTime),
                    pod.getMetadata().getManagedFields().stream()
                        .map(ManagedFieldsEntry::getTime))));
  }

  private static Stream<ContainerStatus> containers(PodStatus status) {
    return Stream.of(status.getContainerStatuses(), status.getInitContainerStatuses())
        .flatMap(List::stream)
        .filter(container -> container.getState() != null);
  }

  private static Optional<Instant> latest(Stream<@Nullable String> times) {
    return times
        .filter(Objects::nonNull)
        .flatMap(time -> parse(time).stream())
        .max(Instant::compareTo);
  }

  private static Optional<Instant> parse(String time) {
    try {
      return Optional.of(Instant.parse(time));
    } catch (DateTimeParseException e) {
      // an unreadable time counts as missing
      return Optional.empty();
    }
  }
}
