package io.pmemcsi.operator.controller;

import static java.util.Comparator.comparing;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentCondition;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Why a workload lacks ready pods, and what to do: the API server refuses to create them, or
 * existing ones do not get ready.
 */
public final class WorkloadProblem {

  private static final String FAILED = "FailedCreate";

  /** The name of the refused pod, which precedes this, is a new one each time. */
  private static final String FORBIDDEN = " is forbidden: ";

  private WorkloadProblem() {}

  /**
   * The problem.
   *
   * @param workload a DaemonSet, StatefulSet or Deployment
   * @param pods those of the workload
   */
  public static Optional<String> of(HasMetadata workload, List<Pod> pods, KubernetesClient client) {
    return refusal(workload, client)
        .map(refusal -> describe(refusal, workload.getMetadata().getNamespace()))
        .or(() -> PodProblem.of(pods));
  }

  private static Optional<String> refusal(HasMetadata workload, KubernetesClient client) {
    // some controllers count no pods as long as they cannot create one
    if (WorkloadState.of(workload).filter(state -> state.total() >= state.desired()).isPresent()) {
      return Optional.empty();
    }
    return workload instanceof Deployment deployment
        ? failedCondition(deployment)
        : failedEvent(workload, client);
  }

  /** The events are those of its ReplicaSets. */
  private static Optional<String> failedCondition(Deployment deployment) {
    return Optional.ofNullable(deployment.getStatus()).stream()
        .flatMap(status -> status.getConditions().stream())
        .filter(condition -> condition.getType().equals("ReplicaFailure"))
        .filter(condition -> condition.getStatus().equals("True"))
        .map(DeploymentCondition::getMessage)
        .findFirst();
  }

  /** Only the newest event counts: a pod that was created or deleted since shows progress. */
  private static Optional<String> failedEvent(HasMetadata workload, KubernetesClient client) {
    return client
        .v1()
        .events()
        .inNamespace(workload.getMetadata().getNamespace())
        .withField("involvedObject.uid", workload.getMetadata().getUid())
        .list()
        .getItems()
        .stream()
        .max(comparing(WorkloadProblem::time).thenComparing(WorkloadProblem::hasFailed))
        .filter(WorkloadProblem::hasFailed)
        .map(Event::getMessage);
  }

  private static String time(Event event) {
    return Objects.requireNonNullElse(event.getLastTimestamp(), "");
  }

  private static boolean hasFailed(Event event) {
    return FAILED.equals(event.getReason());
  }

  static String describe(String refusal, String namespace) {
    int start = refusal.indexOf(FORBIDDEN);
    String cause = start < 0 ? refusal : refusal.substring(start + FORBIDDEN.length());
    return "pods cannot be created%s%s"
        .formatted(PodProblem.words(cause), remedy(cause, namespace).map(". "::concat).orElse(""));
  }

  private static Optional<String> remedy(String cause, String namespace) {
    if (cause.contains("no PriorityClass with name")) {
      return Optional.of("Create the PriorityClass, or correct priorityClassName.");
    }
    if (cause.contains("error looking up service account")) {
      return Optional.of("Create the ServiceAccount, or correct serviceAccountName.");
    }
    if (cause.contains("violates PodSecurity")) {
      return Optional.of(
          ("Allow privileged pods: kubectl label --overwrite namespace %s"
                  + " pod-security.kubernetes.io/enforce=privileged")
              .formatted(namespace));
    }
    if (cause.contains("exceeded quota")) {
      return Optional.of("Raise the quota of namespace %s.".formatted(namespace));
    }
    return Optional.empty();
  }
}
