package io.pmemcsi.operator.guard;

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
 * Whether the volumes of a pod may still be mounted on its node. That its containers have ended
 * says nothing: kubelet unmounts afterwards. A pod that is deleted keeps its object until that is
 * done, whatever its phase; for one that ended by itself nothing in the API says when, so that it
 * is given time.
 */
public final class PodVolumes {

  /** Kubelet begins within a second or two; a driver that is slow has this long. */
  static final Duration UNMOUNTING = Duration.ofMinutes(2);

  private static final Set<String> FINISHED = Set.of("Succeeded", "Failed");

  private PodVolumes() {}

  public static boolean mayBeMounted(Pod pod, Instant now) {
    return pod.getMetadata().getDeletionTimestamp() != null
        || !isFinished(pod)
        || lastSign(pod).map(end -> now.isBefore(end.plus(UNMOUNTING))).orElse(true);
  }

  /** Whether nothing of the pod runs any more, and nothing ever will. */
  public static boolean isFinished(Pod pod) {
    return pod.getStatus() != null
        && pod.getStatus().getPhase() != null
        && FINISHED.contains(pod.getStatus().getPhase());
  }

  /** The end of the last container; an evicted pod may not say, but somebody wrote its end. */
  private static Optional<Instant> lastSign(Pod pod) {
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
      // a time that nobody understands is none
      return Optional.empty();
    }
  }
}
