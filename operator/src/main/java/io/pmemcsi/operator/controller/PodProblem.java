package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What keeps a pod from getting ready, according to its own status: the last words of a container
 * that ended, an image that cannot be pulled, a pod that no node can take.
 */
final class PodProblem {

  private static final int MAX_WORDS = 400;
  private static final Set<String> NORMAL = Set.of("ContainerCreating", "PodInitializing");

  /** Its message counts seconds; what the container wrote before is shown instead. */
  private static final String CRASHED = "CrashLoopBackOff";

  private PodProblem() {}

  /** The first problem, ordered by pod name. */
  static Optional<String> of(List<Pod> pods) {
    return pods.stream()
        .sorted(Comparator.comparing(pod -> pod.getMetadata().getName()))
        .flatMap(pod -> of(pod).stream())
        .findFirst();
  }

  private static Optional<String> of(Pod pod) {
    PodStatus status = pod.getStatus();
    if (status == null) {
      return Optional.empty();
    }
    return Stream.concat(
            status.getInitContainerStatuses().stream(), status.getContainerStatuses().stream())
        .filter(container -> !Boolean.TRUE.equals(container.getReady()))
        .flatMap(container -> of(container).stream())
        .findFirst()
        .or(() -> notScheduled(status))
        .map(what -> "pod \"%s\": %s".formatted(pod.getMetadata().getName(), what));
  }

  private static Optional<String> of(ContainerStatus container) {
    return ended(container)
        .or(() -> waits(container))
        .map(what -> "container \"%s\" %s".formatted(container.getName(), what));
  }

  /** Also of a container that is being tried again: that changes nothing about the cause. */
  private static Optional<String> ended(ContainerStatus container) {
    return Stream.of(container.getState(), container.getLastState())
        .flatMap(state -> Optional.ofNullable(state).stream())
        .flatMap(state -> Optional.ofNullable(state.getTerminated()).stream())
        .filter(end -> end.getExitCode() == null || end.getExitCode() != 0)
        .findFirst()
        .map(PodProblem::terminationMessage);
  }

  private static String terminationMessage(ContainerStateTerminated end) {
    return "ended with exit code %s%s".formatted(end.getExitCode(), words(end.getMessage()));
  }

  private static Optional<String> waits(ContainerStatus container) {
    return Optional.ofNullable(container.getState())
        .flatMap(state -> Optional.ofNullable(state.getWaiting()))
        .filter(waiting -> waiting.getReason() != null && !NORMAL.contains(waiting.getReason()))
        .map(waiting -> waits(waiting, container.getImage()));
  }

  private static String waits(ContainerStateWaiting waiting, String image) {
    return switch (waiting.getReason()) {
      case CRASHED -> CRASHED;
      // kubelet alternates between the two, with different messages: the status must not
      case "ErrImagePull", "ImagePullBackOff" ->
          ("cannot pull the image \"%s\": correct its name, load the image onto the node, or push"
                  + " it to a registry that the node reaches, with imagePullSecrets if that needs a"
                  + " password. \"kubectl describe pod\" shows the answer of the registry.")
              .formatted(image);
      case "ErrImageNeverPull" ->
          ("needs the image \"%s\", which is not on the node, and its pull policy is Never: load"
                  + " the image onto the node, or change the pull policy.")
              .formatted(image);
      case "InvalidImageName" ->
          "has \"%s\" as image, which is no valid name: correct it.".formatted(image);
      default -> waiting.getReason() + words(waiting.getMessage());
    };
  }

  private static Optional<String> notScheduled(PodStatus status) {
    return status.getConditions().stream()
        .filter(condition -> condition.getType().equals("PodScheduled"))
        .filter(condition -> condition.getStatus().equals("False"))
        .map(condition -> "has no node" + words(condition.getMessage()))
        .findFirst();
  }

  /** The message after a colon, shortened if it is long. */
  static String words(@Nullable String message) {
    if (message == null || message.isBlank()) {
      return "";
    }
    String text = message.strip();
    return ": " + (text.length() <= MAX_WORDS ? text : text.substring(0, MAX_WORDS - 1) + "…");
  }
}
