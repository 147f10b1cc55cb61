package io.pmemcsi.operator.rollout.draining;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.NodeUpdate;
import io.pmemcsi.api.template.NodeUpdateStrategy;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.facts.RequeuePeriods;
import io.pmemcsi.operator.rollout.draining.NodeUpdatePlan.Work;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rolls changed templates out to the nodes. The {@code plan} methods observe and decide, and write
 * nothing; {@link #execute} acts.
 */
public final class NodeUpdates {

  private static final Logger LOG = LoggerFactory.getLogger(NodeUpdates.class);
  private static final RequeuePeriods.Update PERIODS = RequeuePeriods.DEFAULT.update();

  /** Reading takes at most a twentieth of the time, in clusters of any size. */
  private static final int IDLE_FACTOR = 20;

  /** A cordoned node must not wait long: reading may take a fifth of the time. */
  private static final int BUSY_FACTOR = 4;

  private static final int ATTEMPTS = 5;

  private final KubernetesClient client;
  private final NodeSnapshotReader reader;
  private final DrainExecutor executor;
  private final Clock clock;

  private @Nullable Set<String> drainingOwners;

  public NodeUpdates(KubernetesClient client, Supplier<KubernetesVersion> version, Clock clock) {
    this.client = client;
    this.reader = new NodeSnapshotReader(client, clock);
    this.executor = new DrainExecutor(client, version);
    this.clock = clock;
  }

  /**
   * The result of an executed plan.
   *
   * @param requeueAfter when to plan again, if nothing else triggers a reconciliation
   */
  public record Progress(NodeUpdate status, Optional<Duration> requeueAfter) {}

  /** The next actions of an update. */
  public NodeUpdatePlan plan(UpdateRequest request) {
    return switch (request.strategy()) {
      case ROLLING -> planRelease(request);
      case ON_DELETE -> request.isUpToDate() ? planRelease(request) : onDelete(request);
      case DRAINING ->
          request.isUpToDate() && !isDraining(request)
              ? new NodeUpdatePlan(request, new Work.None(), counted(request), Optional.empty())
              : drain(request, Optional.empty());
    };
  }

  /**
   * The next actions of an update while the resource cannot be applied: nodes in progress are
   * completed, with the DaemonSet as it is, and no other node is started.
   */
  public NodeUpdatePlan planPaused(UpdateRequest request, String reason) {
    if (request.strategy() != NodeUpdateStrategy.DRAINING) {
      return plan(request);
    }
    if (isDraining(request)) {
      return drain(request, Optional.of(reason));
    }
    return new NodeUpdatePlan(
        request,
        new Work.None(),
        request.isUpToDate() ? counted(request) : UpdateStatus.paused(request.daemonSet(), reason),
        Optional.empty());
  }

  /** The end of an update: its resource is being deleted, unmanaged or no longer draining. */
  public NodeUpdatePlan planRelease(UpdateRequest request) {
    return new NodeUpdatePlan(request, new Work.Release(), counted(request), Optional.empty());
  }

  /** Executes a plan: cordons, evicts, restarts, uncordons. */
  public Progress execute(NodeUpdatePlan plan) {
    return switch (plan.work()) {
      case Work.None() -> new Progress(plan.status(), plan.requeueAfter());
      case Work.Release() -> {
        release(plan.request().owner());
        yield new Progress(plan.status(), plan.requeueAfter());
      }
      case Work.Drain(NodeSnapshot snapshot, DrainPlan actions) -> execute(plan, snapshot, actions);
    };
  }

  private Progress execute(NodeUpdatePlan plan, NodeSnapshot snapshot, DrainPlan drainPlan) {
    UpdateRequest request = plan.request();
    if (drainPlan.isBusy()) {
      drainingOwners().add(request.owner());
    }
    Map<String, String> refusals = executor.execute(request.driver(), drainPlan.actions());
    NodeUpdate status = UpdateStatus.draining(snapshot, drainPlan, refusals);
    if (drainPlan.isFinished() && snapshot.revision().isPresent()) {
      release(request.owner());
      return new Progress(status, Optional.empty());
    }
    return new Progress(status, plan.requeueAfter());
  }

  /**
   * Releases all nodes of a resource that is deleted, no longer managed or no longer draining.
   * Sends no request if it has none.
   */
  public void release(HasMetadata resource) {
    release(resource.getMetadata().getUid());
  }

  private void release(String owner) {
    if (drainingOwners().contains(owner)) {
      releaseNodes(owner);
      drainingOwners().remove(owner);
    }
  }

  /**
   * Releases the nodes of resources that were deleted while no operator ran.
   *
   * @throws KubernetesClientException for the first that cannot be released; the others are
   */
  public void releaseOrphans() {
    var orphans = new TreeMap<String, DrainAnnotation>();
    for (Node node : reader.nodes()) {
      for (DrainAnnotation annotation : NodeSnapshotReader.annotations(node).values()) {
        if (!orphans.containsKey(annotation.owner()) && !resourceExists(annotation)) {
          orphans.put(annotation.owner(), annotation);
        }
      }
    }
    var failures = new ArrayList<KubernetesClientException>();
    orphans.forEach(
        (owner, annotation) -> {
          LOG.atWarn()
              .addKeyValue("resource", annotation.resource())
              .log("Resource not found, releasing the nodes that were drained for it.");
          try {
            releaseNodes(owner);
          } catch (KubernetesClientException e) {
            failures.add(e);
          }
        });
    if (!failures.isEmpty()) {
      throw failures.getFirst();
    }
  }

  private boolean resourceExists(DrainAnnotation annotation) {
    return annotation
        .resourceName()
        .map(
            name ->
                client
                    .resources(CSIDriverDeployment.class)
                    .inNamespace(name[0])
                    .withName(name[1])
                    .get())
        .filter(resource -> resource.getMetadata().getUid().equals(annotation.owner()))
        .isPresent();
  }

  /**
   * Removes the annotations of every driver, because the resource may have had another driver name.
   * Nodes change all the time, and a write to a changed node is a conflict: then read again.
   */
  private void releaseNodes(String owner) {
    Map<String, String> refusals = Map.of();
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      boolean clean = true;
      for (Node node : reader.nodes()) {
        for (String driver : NodeSnapshotReader.annotations(node).keySet()) {
          List<DrainAction> actions =
              DrainPlanner.release(
                  new NodeSnapshot(
                      driver, owner, "", Optional.empty(), List.of(withoutPods(node, driver))));
          if (!actions.isEmpty()) {
            clean = false;
            refusals = executor.execute(driver, actions);
          }
        }
      }
      if (clean) {
        return;
      }
    }
    throw new KubernetesClientException(
        "nodes that were cordoned for an update cannot be released yet: %s"
            .formatted(refusals.isEmpty() ? "they keep changing" : refusals));
  }

  private static NodeUpdate counted(UpdateRequest request) {
    return UpdateStatus.counted(request.daemonSet());
  }

  private NodeUpdatePlan onDelete(UpdateRequest request) {
    Instant start = clock.instant();
    NodeSnapshot snapshot = reader.read(request);
    return new NodeUpdatePlan(
        request,
        new Work.Release(),
        UpdateStatus.onDelete(snapshot),
        requeueAfter(PERIODS.onDelete(), IDLE_FACTOR, start));
  }

  private NodeUpdatePlan drain(UpdateRequest request, Optional<String> pauseReason) {
    Instant start = clock.instant();
    NodeSnapshot snapshot = reader.read(request);
    DrainPlan plan = DrainPlanner.plan(snapshot, request.settings(), clock.instant(), pauseReason);
    return new NodeUpdatePlan(
        request,
        new Work.Drain(snapshot, plan),
        UpdateStatus.draining(snapshot, plan, Map.of()),
        plan.isBusy()
            ? requeueAfter(PERIODS.busy(), BUSY_FACTOR, start)
            : requeueAfter(PERIODS.idle(), IDLE_FACTOR, start));
  }

  private Optional<Duration> requeueAfter(Duration atLeast, int factor, Instant start) {
    Duration reading = Duration.between(start, clock.instant()).multipliedBy(factor);
    return Optional.of(reading.compareTo(atLeast) > 0 ? reading : atLeast);
  }

  private boolean isDraining(UpdateRequest request) {
    return drainingOwners().contains(request.owner());
  }

  /** The owners in annotations, read once: a resource that never drains costs no request. */
  private synchronized Set<String> drainingOwners() {
    if (drainingOwners == null) {
      Set<String> owners = ConcurrentHashMap.newKeySet();
      for (Node node : reader.nodes()) {
        NodeSnapshotReader.annotations(node)
            .values()
            .forEach(annotation -> owners.add(annotation.owner()));
      }
      drainingOwners = owners;
    }
    return drainingOwners;
  }

  private static WorkerNode withoutPods(Node node, String driver) {
    Map<String, DrainAnnotation> annotations = NodeSnapshotReader.annotations(node);
    return new WorkerNode(
        node.getMetadata().getName(),
        node.getMetadata().getResourceVersion(),
        true,
        true,
        NodeSnapshotReader.isCordoned(node),
        Optional.ofNullable(annotations.get(driver)),
        DrainAnnotation.sharedCordon(annotations, driver),
        List.of(),
        List.of(),
        List.of(),
        false);
  }
}
