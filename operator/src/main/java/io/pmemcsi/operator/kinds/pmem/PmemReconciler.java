package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.storage.CSIDriverBuilder;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.apply.ApiCluster;
import io.pmemcsi.operator.apply.Outcome;
import io.pmemcsi.operator.apply.Owner;
import io.pmemcsi.operator.controller.BlockedDeletion;
import io.pmemcsi.operator.controller.ErrorReporter;
import io.pmemcsi.operator.controller.RequeueSource;
import io.pmemcsi.operator.controller.StatusPublisher;
import io.pmemcsi.operator.deletion.DeletionDecision;
import io.pmemcsi.operator.deletion.DeletionGuard;
import io.pmemcsi.operator.events.EventWriter;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.metrics.OutcomeListener;
import io.pmemcsi.operator.usage.UsageReader;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The life of a PmemCSIDeployment: a walk per change, until it may go. Everything that is decided
 * here is decided by pure code beside it.
 */
public final class PmemReconciler
    implements Reconciler<PmemCSIDeployment>, Cleaner<PmemCSIDeployment> {

  /** Under which all objects are written. */
  public static final String FIELD_MANAGER = "pmem-csi-operator";

  private static final Logger LOG = LoggerFactory.getLogger(PmemReconciler.class);

  private final PmemEventSources watches;
  private final DeletionGuard guard;
  private final StatusPublisher<PmemCSIDeployment, PmemCSIDeploymentStatus, ObservedStatus> status;
  private final OutcomeListener listener;
  private final PmemReconciliation walk;
  private final RequeueSource<PmemCSIDeployment> wakeUps = new RequeueSource<>();

  public PmemReconciler(
      Supplier<ClusterFacts> facts,
      String namespace,
      UsageReader usage,
      EventWriter events,
      OutcomeListener listener,
      Clock clock) {
    this.watches = new PmemEventSources(namespace);
    this.guard = new DeletionGuard(usage, PmemCSIDeployment.FORCE_DELETION_ANNOTATION);
    this.status = new StatusPublisher<>(new PmemStatus(), events, listener, clock);
    this.listener = listener;
    this.walk = new PmemReconciliation(facts, watches, listener, clock, wakeUps::propagateEvent);
  }

  @Override
  public List<EventSource<?, PmemCSIDeployment>> prepareEventSources(
      EventSourceContext<PmemCSIDeployment> context) {
    wakeUps.know(context.getPrimaryCache());
    var sources = new ArrayList<>(watches.eventSources(context));
    sources.add(wakeUps);
    return sources;
  }

  /** Looks after whoever has the name of a resource that is gone and forgotten. */
  public void forgotten(ResourceID id) {
    wakeUps.lookIfThere(id);
  }

  @Override
  public UpdateControl<PmemCSIDeployment> reconcile(
      PmemCSIDeployment cached, Context<PmemCSIDeployment> context) {
    PmemCSIDeployment resource = status.newest(cached, context.getClient());
    if (PmemEventMessages.isNew(resource.getStatus())) {
      status.announce(resource, PmemEventMessages.NEW, "");
    }
    return telling(
        resource,
        context,
        () -> {
          PmemReconciliation.ReconcileResult round = walk.round(resource, context);
          status.publish(resource, round.found(), context.getClient());
          UpdateControl<PmemCSIDeployment> control = UpdateControl.noUpdate();
          round.again().ifPresent(control::rescheduleAfter);
          return control;
        });
  }

  /** While volumes hold the driver back it is looked after as ever: somebody needs it. */
  @Override
  public DeleteControl cleanup(PmemCSIDeployment cached, Context<PmemCSIDeployment> context) {
    PmemCSIDeployment resource = status.newest(cached, context.getClient());
    return telling(
        resource,
        context,
        () ->
            switch (mayGo(resource, context)) {
              case DeletionDecision.Allow() -> remove(resource, context);
              case DeletionDecision.Hold hold -> {
                BlockedDeletion.inBackground(resource, context.getClient());
                ObservedStatus found = walk.round(resource, context).found().and(held(hold));
                status.publish(resource, found, context.getClient());
                yield DeleteControl.noFinalizerRemoval().rescheduleAfter(hold.requeueAfter());
              }
            });
  }

  /** Of a resource for which nothing was made nobody needs anything: its name is another's. */
  private DeletionDecision mayGo(PmemCSIDeployment resource, Context<PmemCSIDeployment> context) {
    String driver = resource.getMetadata().getName();
    return hasDriver(Owner.of(resource), driver, new ApiCluster<>(context, watches.owned()))
        ? guard.decide(resource, resource.getSpec().deletionPolicy(), driver)
        : new DeletionDecision.Allow();
  }

  /** What an earlier release made is in no cache. */
  private static boolean hasDriver(
      Owner owner, String driver, ApiCluster<PmemCSIDeployment> cluster) {
    return !cluster.ownedBy(owner).isEmpty()
        || cluster
            .find(new CSIDriverBuilder().withNewMetadata().withName(driver).endMetadata().build())
            .filter(found -> PmemEventSources.MARKS.isOwnedBy(found, owner))
            .isPresent();
  }

  private DeleteControl remove(PmemCSIDeployment resource, Context<PmemCSIDeployment> context) {
    Outcome outcome =
        PmemReconciliation.engine(context)
            .remove(Owner.of(resource), new ApiCluster<>(context, watches.owned()));
    listener.applied(resource, outcome);
    if (!outcome.complete()) {
      ObservedStatus found =
          new ObservedStatus(
                  resource.getMetadata().getGeneration(),
                  Optional.empty(),
                  List.of(),
                  List.of(),
                  resource.getStatus().unpreparedNodes(),
                  Optional.ofNullable(resource.getStatus().certificateExpires()))
              .waitingFor(outcome.pending());
      status.publish(resource, found, context.getClient());
      return DeleteControl.noFinalizerRemoval().rescheduleAfter(PmemReconciliation.SOON);
    }
    walk.forget(resource);
    status.forget(resource);
    LOG.atInfo()
        .addKeyValue("deployment", resource.getMetadata().getName())
        .addKeyValue("removed", outcome.pruned().size())
        .log("Driver removed.");
    return DeleteControl.defaultDelete();
  }

  private static DeploymentCondition held(DeletionDecision.Hold hold) {
    return ObservedStatus.condition(
        DeletionDecision.Hold.CONDITION, true, DeletionDecision.Hold.REASON, hold.message());
  }

  /** Whatever goes wrong is told in the status, too. */
  private <T> T telling(
      PmemCSIDeployment resource, Context<PmemCSIDeployment> context, Supplier<T> action) {
    return ErrorReporter.telling(
        context,
        action,
        failure ->
            status.publish(
                resource,
                PmemReconciliation.failed(resource, failure.message(), context),
                context.getClient()));
  }
}
