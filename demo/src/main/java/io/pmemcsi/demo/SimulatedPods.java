package io.pmemcsi.demo;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetStatus;
import io.fabric8.kubernetes.api.model.apps.DaemonSetStatusBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatus;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Updates the status of DaemonSets and Deployments as if one pod after the other became ready. No
 * pods exist.
 */
final class SimulatedPods implements AutoCloseable {

  private final KubernetesClient client;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory());

  private SimulatedPods(KubernetesClient client) {
    this.client = client;
  }

  /**
   * Starts the simulation.
   *
   * @param perPod how long each pod takes to become ready
   */
  static SimulatedPods start(KubernetesClient client, Duration perPod) {
    SimulatedPods pods = new SimulatedPods(client);
    ScheduledFuture<?> _ =
        pods.timer.scheduleWithFixedDelay(
            pods::step, perPod.toMillis(), perPod.toMillis(), TimeUnit.MILLISECONDS);
    return pods;
  }

  private void step() {
    try {
      client.apps().daemonSets().inAnyNamespace().list().getItems().forEach(this::advance);
      client.apps().deployments().inAnyNamespace().list().getItems().forEach(this::advance);
    } catch (KubernetesClientException e) {
      // The operator changed or deleted a workload concurrently: the next step retries.
    }
  }

  private void advance(DaemonSet set) {
    DaemonSetStatus status = Objects.requireNonNullElseGet(set.getStatus(), DaemonSetStatus::new);
    int desired =
        client
            .nodes()
            .withLabels(set.getSpec().getTemplate().getSpec().getNodeSelector())
            .list()
            .getItems()
            .size();
    int ready = ready(set, status.getObservedGeneration(), status.getNumberReady(), desired);
    set.setStatus(
        new DaemonSetStatusBuilder()
            .withObservedGeneration(set.getMetadata().getGeneration())
            .withDesiredNumberScheduled(desired)
            .withCurrentNumberScheduled(desired)
            .withUpdatedNumberScheduled(desired)
            .withNumberMisscheduled(0)
            .withNumberReady(ready)
            .withNumberAvailable(ready)
            .withNumberUnavailable(desired - ready)
            .build());
    if (!set.getStatus().equals(status)) {
      client.resource(set).updateStatus();
    }
  }

  private void advance(Deployment deployment) {
    DeploymentStatus status =
        Objects.requireNonNullElseGet(deployment.getStatus(), DeploymentStatus::new);
    int desired = deployment.getSpec().getReplicas();
    int ready =
        ready(deployment, status.getObservedGeneration(), status.getReadyReplicas(), desired);
    deployment.setStatus(
        new DeploymentStatusBuilder()
            .withObservedGeneration(deployment.getMetadata().getGeneration())
            .withReplicas(desired)
            .withUpdatedReplicas(desired)
            .withReadyReplicas(ready)
            .withAvailableReplicas(ready)
            .withUnavailableReplicas(desired - ready)
            .addNewCondition()
            .withType("Available")
            .withStatus(ready == desired ? "True" : "False")
            .withReason("Simulated")
            .endCondition()
            .build());
    if (!deployment.getStatus().equals(status)) {
      client.resource(deployment).updateStatus();
    }
  }

  /** A new template starts with no ready pod; otherwise one more pod becomes ready. */
  private static int ready(
      HasMetadata workload, @Nullable Long observed, @Nullable Integer ready, int desired) {
    boolean current = Objects.equals(observed, workload.getMetadata().getGeneration());
    return current ? Math.min(desired, Objects.requireNonNullElse(ready, 0) + 1) : 0;
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
