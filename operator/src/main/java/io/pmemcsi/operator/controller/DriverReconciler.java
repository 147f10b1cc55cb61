package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.client.CustomResource;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.RetryInfo;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.pmemcsi.operator.apply.Outcome;
import io.pmemcsi.operator.apply.Owner;
import io.pmemcsi.operator.apply.OwnershipLabels;
import io.pmemcsi.operator.deletion.DeletionDecision;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import io.pmemcsi.operator.metrics.OutcomeListener;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * One way for every kind: observe, decide, act, report. A reconciliation goes this way once and
 * never back. Nothing after the decision decides; nothing in the report acts.
 *
 * <p>JOSDK calls {@link #reconcile} for every event, deletions included, so that an error in any
 * step reaches {@link #updateErrorStatus}, and so that nothing is remembered of a resource whose
 * finalizer a user has removed.
 */
public final class DriverReconciler<R extends CustomResource<?, S>, S, O, P extends Plan<R>, W>
    implements Reconciler<R> {

  private final DriverKind<R, S, O, P, W> kind;
  private final KindTraits<R> traits;
  private final Finalizers<R> finalizers;
  private final Actions<R> actions;
  private final StatusReporter<R, S> reporter;
  private final OutcomeListener listener;
  private final Clock clock;
  private final RequeueSource<R> requeues = new RequeueSource<>();
  private final OwnWrites<R> writes = new OwnWrites<>();

  /**
   * A reconciler for one kind.
   *
   * @param everyKind the ownership labels of every kind
   */
  public DriverReconciler(
      DriverKind<R, S, O, P, W> kind,
      List<OwnershipLabels> everyKind,
      EventWriter events,
      OutcomeListener listener,
      Clock clock) {
    this.kind = kind;
    this.traits = kind.traits();
    this.finalizers = new Finalizers<>(traits.finalizers());
    this.actions =
        new Actions<>(traits, new NotOwnedObjects(everyKind), kind::describe, listener, clock);
    this.reporter = new StatusReporter<>(kind.mapper(), events, listener, writes, clock);
    this.listener = listener;
    this.clock = clock;
  }

  @Override
  public List<EventSource<?, R>> prepareEventSources(EventSourceContext<R> context) {
    requeues.observe(context.getPrimaryCache());
    var sources = new ArrayList<>(traits.owned().eventSources(context));
    sources.addAll(kind.eventSources(context, requeues::requeue));
    sources.add(requeues);
    return sources;
  }

  /** Reconciles every resource, for example because the configuration changed. */
  public void requeueAll() {
    requeues.requeueAll();
  }

  /** Reconciles the resource that has the name of one whose cleanup is done. */
  public void onCleanupDone(ResourceID id) {
    requeues.requeueIfPresent(id);
  }

  @Override
  public UpdateControl<R> reconcile(R cached, Context<R> context) {
    UpdateControl<R> control = UpdateControl.noUpdate();
    if (context.isPrimaryResourceDeleted()) {
      forget(cached);
      return control;
    }
    R resource = writes.fresh(cached, context.getClient());
    var cluster = new CachedReader<>(context, traits.owned());
    boolean managed = kind.isManaged(resource);
    boolean finalizer = finalizers.on(resource);
    Optional<Hold> hold =
        resource.isMarkedForDeletion() && finalizer && managed
            ? hold(resource, cluster)
            : Optional.empty();
    Optional<Duration> requeueAfter =
        switch (Lifecycle.decide(resource.isMarkedForDeletion(), finalizer, managed, hold)) {
          case Lifecycle.Deploy deploy -> deploy(resource, deploy.hold(), cluster);
          case Lifecycle.LeaveAlone() -> leaveAlone(resource, cluster);
          case Lifecycle.Release() -> release(resource, cluster);
          case Lifecycle.Remove() -> remove(resource, cluster);
          case Lifecycle.Finished() -> finish(resource);
        };
    requeueAfter.ifPresent(control::rescheduleAfter);
    return control;
  }

  /** Reports an error that lasts; JOSDK retries in any case. */
  @Override
  public ErrorStatusUpdateControl<R> updateErrorStatus(
      R cached, Context<R> context, Exception failure) {
    int attempt = context.getRetryInfo().map(RetryInfo::getAttemptCount).orElse(0);
    if (!requeues.isPresent(ResourceID.fromResource(cached))) {
      // JOSDK 5.2.3 loses a deletion that it observes while a reconciliation fails
      forget(cached);
    } else if (!context.isPrimaryResourceDeleted()) {
      try {
        var cluster = new CachedReader<>(context, traits.owned());
        Failures.problem(failure, attempt)
            .ifPresent(
                problem -> {
                  R resource = writes.fresh(cached, context.getClient());
                  reporter.report(resource, kind.failed(resource, problem, cluster), context);
                });
      } catch (RuntimeException e) {
        failure.addSuppressed(e);
      }
    }
    return ErrorStatusUpdateControl.defaultErrorProcessing();
  }

  /** While volumes need the driver it is reconciled as ever, although the resource is deleted. */
  private Optional<Duration> deploy(R resource, Optional<Hold> hold, CachedReader<R> cluster) {
    O observed = kind.observe(resource, cluster);

    P plan = kind.decide(resource, observed);

    R current = keep(resource, hold, cluster);
    Actions.Result result = actions.perform(current, plan.action(), hold.isPresent(), cluster);
    plan.triggers().forEach(requeues::requeue);
    W running = kind.rollOut(current, plan, result.problem(), cluster);

    reporter.announce(current, result.outcome().map(kind::events).orElse(List.of()));
    reporter.report(
        current, kind.deployed(current, plan, running, result.problem(), hold), cluster.context());
    return requeueAfter(current, plan, running, result.problem(), hold);
  }

  private R keep(R resource, Optional<Hold> hold, CachedReader<R> cluster) {
    if (hold.isPresent()) {
      finalizers.deleteInBackground(resource, cluster.client());
      return resource;
    }
    R current = finalizers.add(resource, cluster.context());
    writes.record(current);
    return current;
  }

  private Optional<Duration> requeueAfter(
      R resource, P plan, W running, Optional<Problem> problem, Optional<Hold> hold) {
    return Stream.of(
            problem.flatMap(one -> requeueAfter(resource, one)),
            kind.requeueAfter(plan, running),
            hold.map(Hold::requeueAfter))
        .flatMap(Optional::stream)
        .min(Duration::compareTo);
  }

  private Optional<Duration> requeueAfter(R resource, Problem problem) {
    return problem
        .requeueAfter()
        .or(
            () ->
                problem.cause().isWatched()
                    ? Optional.empty()
                    : Optional.of(
                        RequeuePeriods.DEFAULT.backOff(
                            kind.problemSince(resource.getStatus()), clock.instant())));
  }

  private Optional<Duration> leaveAlone(R resource, CachedReader<R> cluster) {
    kind.endRollout(resource);
    reporter.report(resource, kind.unmanaged(resource, cluster), cluster.context());
    return Optional.empty();
  }

  private Optional<Duration> release(R resource, CachedReader<R> cluster) {
    kind.endRollout(resource);
    actions.release(resource, cluster);
    finalizers.remove(resource, cluster.client());
    return Optional.empty();
  }

  private Optional<Duration> remove(R resource, CachedReader<R> cluster) {
    kind.endRollout(resource);
    R current =
        reporter.report(resource, kind.removing(resource, Optional.empty()), cluster.context());
    Outcome outcome = actions.remove(current, cluster);
    if (outcome.complete()) {
      finalizers.remove(current, cluster.client());
      return Optional.empty();
    }
    var problem = Actions.waiting(outcome.pending());
    reporter.report(current, kind.removing(current, Optional.of(problem)), cluster.context());
    return requeueAfter(current, problem);
  }

  private Optional<Duration> finish(R resource) {
    kind.endRollout(resource);
    return Optional.empty();
  }

  private void forget(R resource) {
    kind.endRollout(resource);
    kind.forget(resource);
    actions.forget(resource);
    writes.forget(resource);
    listener.deleted(resource);
  }

  /** What blocks the deletion. A resource for which nothing was created blocks nothing. */
  private Optional<Hold> hold(R resource, CachedReader<R> cluster) {
    return hasDriver(resource, cluster)
        ? kind.installedDrivers(resource, cluster).stream()
            .map(driver -> kind.guard().decide(resource, kind.deletionPolicy(resource), driver))
            .filter(DeletionDecision.Hold.class::isInstance)
            .map(DeletionDecision.Hold.class::cast)
            .findFirst()
        : Optional.empty();
  }

  /** Objects of an earlier release have no ownership labels, and are in no informer. */
  private boolean hasDriver(R resource, CachedReader<R> cluster) {
    var owner = Owner.of(resource);
    return cluster.ownsObjects()
        || cluster
            .find(kind.anchor(resource))
            .filter(found -> traits.owned().ownership().isOwnedBy(found, owner))
            .isPresent();
  }
}
