package io.pmemcsi.operator.rollout.draining;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.NodeUpdate;
import io.pmemcsi.api.template.NodeUpdateStrategy;
import io.pmemcsi.operator.facts.KubernetesVersion;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings changed templates to the nodes: what a reconciler calls, once per walk. */
public final class NodeUpdates {

  private static final Logger LOG = LoggerFactory.getLogger(NodeUpdates.class);
  private static final Duration WORKING = Duration.ofSeconds(1);
  private static final Duration WAITING = Duration.ofSeconds(20);

  /** Somebody deletes pods by hand, perhaps in weeks; each deletion wakes us anyway. */
  private static final Duration WATCHING = Duration.ofMinutes(1);

  /** Reading takes at most a twentieth of the time, however large or slow the cluster. */
  private static final int SHARE = 20;

  /** A node that is cordoned shall not be it for longer than needed: here at most a fifth. */
  private static final int WORKING_SHARE = 4;

  private static final int ATTEMPTS = 5;

  private final KubernetesClient client;
  private final NodeSnapshotReader reader;
  private final DrainExecutor executor;
  private final Clock clock;

  /** Resources that are gone, and whose nodes could not be released yet. */
  private final Set<String> orphans = ConcurrentHashMap.newKeySet();

  private @Nullable Set<String> markedOwners;

  public NodeUpdates(KubernetesClient client, Supplier<KubernetesVersion> version, Clock clock) {
    this.client = client;
    this.reader = new NodeSnapshotReader(client, clock);
    this.executor = new DrainExecutor(client, version);
    this.clock = clock;
  }

  /**
   * What became of an update.
   *
   * @param again when to call again, if nothing else wakes the caller
   */
  public record Progress(NodeUpdate status, Optional<Duration> again) {}

  /** Takes the next steps of an update. */
  public Progress advance(UpdateRequest request) {
    boolean working = markedOwners().contains(request.owner());
    return switch (request.strategy()) {
      case ROLLING -> {
        release(request.owner());
        yield new Progress(UpdateStatus.counted(request.daemonSet()), Optional.empty());
      }
      case ON_DELETE -> {
        release(request.owner());
        yield request.isUpToDate() ? upToDate(request) : onDelete(request);
      }
      case DRAINING ->
          request.isUpToDate() && !working ? upToDate(request) : drain(request, Optional.empty());
    };
  }

  /**
   * Takes the next steps while the resource cannot be carried out: nodes in hand are brought to
   * their end, with the DaemonSet that is there, and no other one is begun.
   *
   * @param why what is in the way
   */
  public Progress standStill(UpdateRequest request, String why) {
    if (request.strategy() != NodeUpdateStrategy.DRAINING) {
      return advance(request);
    }
    if (markedOwners().contains(request.owner())) {
      return drain(request, Optional.of(why));
    }
    return request.isUpToDate()
        ? upToDate(request)
        : new Progress(UpdateStatus.standing(request.daemonSet(), why), Optional.empty());
  }

  /** The state of an update on which nobody works any more: its resource is being deleted. */
  public Progress ended(UpdateRequest request) {
    release(request.owner());
    return upToDate(request);
  }

  /**
   * Ends all work for a resource that is deleted, no longer managed or no longer draining. Costs
   * nothing where there was none.
   */
  public void release(HasMetadata resource) {
    release(resource.getMetadata().getUid());
  }

  /**
   * Ends the work for resources that vanished while no operator ran; nobody else would, if no other
   * resource is there that has the nodes looked at.
   */
  public void releaseOrphans() {
    markedOwners();
    for (String owner : Set.copyOf(orphans)) {
      takeOff(owner);
      orphans.remove(owner);
    }
  }

  private void release(String owner) {
    if (markedOwners().contains(owner)) {
      takeOff(owner);
      markedOwners().remove(owner);
    }
  }

  /**
   * Takes off the marks for every driver, because a resource may have named another one before.
   * Nodes change at any time, and a write on top of a change is refused: look again then.
   */
  private void takeOff(String owner) {
    Map<String, String> refusals = Map.of();
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      boolean clean = true;
      for (Node node : reader.nodes()) {
        for (String driver : NodeSnapshotReader.marks(node).keySet()) {
          List<DrainAction> actions =
              DrainPlanner.release(
                  new NodeSnapshot(
                      driver, owner, "", Optional.empty(), List.of(bare(node, driver))));
          if (!actions.isEmpty()) {
            clean = false;
            refusals = executor.run(driver, actions);
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

  private Progress upToDate(UpdateRequest request) {
    return new Progress(UpdateStatus.counted(request.daemonSet()), Optional.empty());
  }

  private Progress onDelete(UpdateRequest request) {
    Instant begun = clock.instant();
    NodeSnapshot fleet = reader.read(request);
    return new Progress(UpdateStatus.onDelete(fleet), again(WATCHING, SHARE, begun));
  }

  private Progress drain(UpdateRequest request, Optional<String> standstill) {
    Instant begun = clock.instant();
    NodeSnapshot fleet = reader.read(request);
    Plan plan = DrainPlanner.plan(fleet, request.settings(), clock.instant(), standstill);
    Optional<Duration> again =
        plan.isBusy() ? again(WORKING, WORKING_SHARE, begun) : again(WAITING, SHARE, begun);
    if (plan.isBusy()) {
      markedOwners().add(request.owner());
    }
    Map<String, String> refusals = executor.run(request.driver(), plan.actions());
    NodeUpdate status = UpdateStatus.draining(fleet, plan, refusals);
    if (plan.isFinished() && fleet.revision().isPresent()) {
      release(request.owner());
      return new Progress(status, Optional.empty());
    }
    return new Progress(status, again);
  }

  private Optional<Duration> again(Duration least, int share, Instant begun) {
    Duration reading = Duration.between(begun, clock.instant()).multipliedBy(share);
    return Optional.of(reading.compareTo(least) > 0 ? reading : least);
  }

  /**
   * The owners of marks, read once: with this a resource that never drains costs nothing. Marks of
   * resources that vanished while no operator ran are taken off here.
   */
  private synchronized Set<String> markedOwners() {
    if (markedOwners == null) {
      Set<String> found = ConcurrentHashMap.newKeySet();
      for (Node node : reader.nodes()) {
        NodeSnapshotReader.marks(node)
            .forEach(
                (driver, mark) -> {
                  if (exists(mark)) {
                    found.add(mark.owner());
                  } else {
                    orphan(node, driver, mark);
                  }
                });
      }
      markedOwners = found;
    }
    return markedOwners;
  }

  private boolean exists(DrainAnnotation mark) {
    return mark.resourceName()
        .map(
            name ->
                client
                    .resources(CSIDriverDeployment.class)
                    .inNamespace(name[0])
                    .withName(name[1])
                    .get())
        .filter(resource -> resource.getMetadata().getUid().equals(mark.owner()))
        .isPresent();
  }

  private void orphan(Node node, String driver, DrainAnnotation mark) {
    LOG.atWarn()
        .addKeyValue("node", node.getMetadata().getName())
        .addKeyValue("driver", driver)
        .addKeyValue("resource", mark.resource())
        .log("The resource that a node was updated for is gone; the node is released.");
    try {
      takeOff(mark.owner());
    } catch (KubernetesClientException e) {
      // those who are there must not wait for it
      orphans.add(mark.owner());
      LOG.atWarn()
          .addKeyValue("node", node.getMetadata().getName())
          .addKeyValue("driver", driver)
          .setCause(e)
          .log("The node cannot be released now; it is tried again.");
    }
  }

  private static WorkerNode bare(Node node, String driver) {
    Map<String, DrainAnnotation> marks = NodeSnapshotReader.marks(node);
    return new WorkerNode(
        node.getMetadata().getName(),
        node.getMetadata().getResourceVersion(),
        true,
        true,
        NodeSnapshotReader.isCordoned(node),
        Optional.ofNullable(marks.get(driver)),
        DrainAnnotation.sharedCordon(marks, driver),
        List.of(),
        List.of(),
        List.of(),
        false);
  }
}
