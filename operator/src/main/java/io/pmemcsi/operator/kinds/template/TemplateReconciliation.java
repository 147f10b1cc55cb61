package io.pmemcsi.operator.kinds.template;

import static io.pmemcsi.api.template.DriverCondition.SYNC_SUCCESSFUL;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentChecks;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.api.template.NodeUpdate;
import io.pmemcsi.api.template.TemplateSettings;
import io.pmemcsi.operator.apply.Cluster;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.apply.DriftBackoff;
import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.apply.Outcome;
import io.pmemcsi.operator.apply.Owner;
import io.pmemcsi.operator.controller.ContendedObject;
import io.pmemcsi.operator.controller.NotOwnedObjects;
import io.pmemcsi.operator.deletion.DeletionGuard;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.metrics.OutcomeListener;
import io.pmemcsi.operator.rollout.draining.NodeUpdates;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One walk for a resource whose driver shall be there: read and check, look for conflicts,
 * blueprint, engine, nodes. It ends at the first thing that is in the way, and says so.
 */
final class TemplateReconciliation {

  private static final Logger LOG = LoggerFactory.getLogger(TemplateReconciliation.class);

  private final Supplier<ClusterFacts> facts;
  private final Supplier<OperatorConfig> config;
  private final Blockers obstacles;
  private final NodeUpdates nodeUpdates;
  private final TemplateEventSources watches;
  private final OutcomeListener listener;
  private final DriftBackoff disputes;
  private final Clock clock;

  TemplateReconciliation(
      Supplier<ClusterFacts> facts,
      Supplier<OperatorConfig> config,
      DeletionGuard guard,
      NodeUpdates nodeUpdates,
      TemplateEventSources watches,
      OutcomeListener listener,
      Clock clock) {
    this.facts = facts;
    this.config = config;
    this.obstacles = new Blockers(guard, watches);
    this.nodeUpdates = nodeUpdates;
    this.watches = watches;
    this.listener = listener;
    this.disputes = new DriftBackoff(clock);
    this.clock = clock;
  }

  /**
   * What one walk found.
   *
   * @param resource as it is after the walk
   * @param recreated objects that were deleted and created again
   * @param again when to walk again without being woken
   */
  record ReconcileResult(
      CSIDriverDeployment resource,
      TemplateObservedStatus found,
      List<ObjectRef> recreated,
      Optional<Duration> again) {

    private static ReconcileResult of(
        CSIDriverDeployment resource, TemplateObservedStatus found, Optional<Duration> again) {
      return new ReconcileResult(resource, found, List.of(), again);
    }
  }

  ReconcileResult walk(CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    List<Violation> violations = CSIDriverDeploymentChecks.check(resource);
    if (!violations.isEmpty()) {
      return failed(
          resource,
          "Invalid",
          violations.stream().map(Violation::message).collect(Collectors.joining("\n")),
          Optional.empty(),
          context);
    }
    TemplateSettings settings;
    DesiredState blueprint;
    OperatorConfig current = config.get();
    try {
      settings = TemplateSettings.of(resource);
      blueprint =
          TemplateDesiredState.of(
              resource.getMetadata().getNamespace(),
              resource.getMetadata().getName(),
              settings,
              current,
              facts.get());
    } catch (IllegalArgumentException e) {
      return failed(resource, "Invalid", String.valueOf(e.getMessage()), Optional.empty(), context);
    }
    Optional<Blockers.Obstacle> obstacle = obstacles.find(resource, settings, current, context);
    if (obstacle.isPresent()) {
      String more =
          obstacle
              .get()
              .needed()
              .flatMap(
                  former ->
                      keepKnown(former, resource, settings, current, context).map(it -> "\n" + it))
              .orElse("");
      return failed(
          resource,
          obstacle.get().reason(),
          obstacle.get().message() + more,
          obstacle.get().again().or(() -> Optional.of(patience(resource))),
          context);
    }
    CSIDriverDeployment kept =
        isDeleted(resource) ? resource : Finalizers.add(resource, context.getClient());
    return bring(kept, settings, blueprint, context);
  }

  /**
   * Volumes need a driver although the resource names another one by now: without its CSIDriver
   * kubelets and sidecars would take it for one of another sort.
   *
   * @return what is in the way of that
   */
  private Optional<String> keepKnown(
      String former,
      CSIDriverDeployment resource,
      TemplateSettings settings,
      OperatorConfig current,
      Context<CSIDriverDeployment> context) {
    HasMetadata object = DriverObject.ofFormer(former, resource, settings, current, facts.get());
    Outcome outcome =
        TemplateReconciler.engine(context)
            .restore(Owner.of(resource), object, patient(resource, context));
    listener.applied(resource, outcome);
    return outcome.conflicts().isEmpty()
        ? Optional.empty()
        : Optional.of(
            NotOwnedObjects.describe(
                resource,
                outcome.conflicts(),
                DesiredState.of(List.of(object)),
                context.getClient()));
  }

  /** What a resource says that could not be carried out; its nodes are not forgotten. */
  ReconcileResult failed(
      CSIDriverDeployment resource,
      String reason,
      String message,
      Optional<Duration> again,
      Context<CSIDriverDeployment> context) {
    var objects = new InstalledObjects(resource, context);
    Standstill nodes = standStill(objects, reason + ": " + message);
    return ReconcileResult.of(
        resource,
        TemplateObservedStatus.failed(
            resource.getMetadata().getGeneration(),
            objects.availability(),
            reason,
            message,
            nodes.status()),
        Stream.concat(again.stream(), nodes.again().stream()).min(Duration::compareTo));
  }

  private Cluster patient(CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    return disputes.wrap(
        watches.cluster(context),
        Owner.of(resource),
        resource.getMetadata().getGeneration(),
        context.getControllerConfiguration().fieldManager(),
        context.getClient().getKubernetesSerialization());
  }

  private ReconcileResult bring(
      CSIDriverDeployment resource,
      TemplateSettings settings,
      DesiredState blueprint,
      Context<CSIDriverDeployment> context) {
    var owner = Owner.of(resource);
    Outcome outcome =
        TemplateReconciler.engine(context)
            .apply(
                owner,
                blueprint,
                object -> isNew(resource) && isMadeOfTemplate(object),
                patient(resource, context));
    listener.applied(resource, outcome);
    if (outcome.changedSomething()) {
      LOG.atInfo()
          .addKeyValue("namespace", resource.getMetadata().getNamespace())
          .addKeyValue("name", resource.getMetadata().getName())
          .addKeyValue("applied", outcome.applied().size())
          .addKeyValue("recreated", outcome.recreated().size())
          .addKeyValue("pruned", outcome.pruned().size())
          .log("Objects brought to the wanted state.");
    }
    List<DriftBackoff.Contention> disputed = disputes.contentions(owner);
    ReconcileResult result;
    if (!outcome.conflicts().isEmpty()) {
      result =
          failed(
              resource,
              "ForeignObject",
              NotOwnedObjects.describe(
                  resource, outcome.conflicts(), blueprint, context.getClient()),
              Optional.of(patience(resource)),
              context);
    } else if (!outcome.complete()) {
      result =
          failed(resource, "Waiting", waiting(outcome), Optional.of(patience(resource)), context);
    } else if (!disputed.isEmpty()) {
      result =
          failed(
              resource,
              "Contested",
              ContendedObject.describe(disputed),
              Optional.of(DriftBackoff.INTERVAL),
              context);
    } else {
      result = synced(resource, settings, context);
    }
    return new ReconcileResult(
        result.resource(), result.found(), outcome.recreated(), result.again());
  }

  private ReconcileResult synced(
      CSIDriverDeployment resource,
      TemplateSettings settings,
      Context<CSIDriverDeployment> context) {
    var objects = new InstalledObjects(resource, context);
    Optional<NodeUpdates.Progress> progress =
        objects
            .update()
            .map(
                update ->
                    nodeUpdates.execute(
                        isDeleted(resource)
                            ? nodeUpdates.planRelease(update)
                            : nodeUpdates.plan(update)));
    if (isNew(resource)) {
      watches.wakeLosersOf(resource);
    }
    return ReconcileResult.of(
        resource,
        TemplateObservedStatus.synced(
            resource.getMetadata().getGeneration(),
            objects.availability(settings.controllerTemplate().isPresent()),
            progress.map(NodeUpdates.Progress::status)),
        progress.flatMap(NodeUpdates.Progress::requeueAfter));
  }

  /** The nodes of a resource that cannot be carried out, and when to look after them again. */
  private record Standstill(Optional<NodeUpdate> status, Optional<Duration> again) {}

  /** Nodes in hand are brought to their end; what is in the way of that is not news for a user. */
  private Standstill standStill(InstalledObjects objects, String why) {
    try {
      if (objects.daemonSet().isEmpty()) {
        nodeUpdates.release(objects.resource());
      }
      Optional<NodeUpdates.Progress> progress =
          objects
              .update()
              .map(
                  update ->
                      nodeUpdates.execute(
                          isDeleted(objects.resource())
                              ? nodeUpdates.planRelease(update)
                              : nodeUpdates.planPaused(update, why)));
      return new Standstill(
          progress.map(NodeUpdates.Progress::status),
          progress.flatMap(NodeUpdates.Progress::requeueAfter));
    } catch (KubernetesClientException e) {
      LOG.atWarn()
          .addKeyValue("namespace", objects.resource().getMetadata().getNamespace())
          .addKeyValue("name", objects.resource().getMetadata().getName())
          .setCause(e)
          .log("The nodes of a driver cannot be looked after now; it is tried again.");
      // nothing else would wake us, and a node may be cordoned
      return new Standstill(Optional.empty(), Optional.of(patience(objects.resource())));
    }
  }

  static String waiting(Outcome outcome) {
    return "waiting until %s is deleted: its pods may still terminate, or a finalizer may hold it"
        .formatted(
            outcome.pending().stream().map(ObjectRef::toString).collect(Collectors.joining(", ")));
  }

  /** What has been in the way for long is looked for less and less often. */
  Duration patience(CSIDriverDeployment resource) {
    return PollBackoff.after(
        resource
            .getStatus()
            .condition(SYNC_SUCCESSFUL)
            .filter(condition -> condition.status().equals(TemplateObservedStatus.FALSE))
            .map(DriverCondition::lastTransitionTime),
        clock.instant());
  }

  /** For a resource that is gone. */
  void forget(CSIDriverDeployment resource) {
    disputes.forget(Owner.of(resource));
  }

  /** Whether this generation has not been carried out yet. */
  private static boolean isNew(CSIDriverDeployment resource) {
    return !resource
        .getMetadata()
        .getGeneration()
        .equals(resource.getStatus().observedGeneration());
  }

  /** The server looks into pod templates here for the first time. */
  private static boolean isMadeOfTemplate(HasMetadata object) {
    return object instanceof DaemonSet || object instanceof Deployment;
  }

  private static boolean isDeleted(CSIDriverDeployment resource) {
    return resource.getMetadata().getDeletionTimestamp() != null;
  }
}
