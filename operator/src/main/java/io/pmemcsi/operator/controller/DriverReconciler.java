package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.OperatorException;
import io.javaoperatorsdk.operator.api.config.ExecutorServiceManager;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.RetryInfo;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.EventSourceRetriever;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.apply.Outcome;
import io.pmemcsi.operator.apply.Owner;
import io.pmemcsi.operator.apply.OwnershipLabels;
import io.pmemcsi.operator.deletion.DeletionDecision;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import io.pmemcsi.operator.facts.Refusal;
import io.pmemcsi.operator.facts.RequeuePeriods;
import io.pmemcsi.operator.metrics.OutcomeListener;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * One way for every kind: observe, decide, act, report. A reconciliation goes this way once and
 * never back. Nothing after the decision decides; nothing in the report acts.
 *
 * <p>There are two exceptions. A rollout is a second pass on its own: once the objects are applied,
 * {@link DriverKind#rollOut} observes pods and nodes, plans and executes. And {@link
 * #updateErrorStatus} releases the nodes of a resource whose deletion JOSDK has lost: nothing else
 * is called for it any more.
 *
 * <p>JOSDK calls {@link #reconcile} for every event, deletions included, so that an error in any
 * step reaches {@link #updateErrorStatus}, and so that nothing is remembered of a resource whose
 * finalizer a user has removed.
 */
public final class DriverReconciler<R extends CustomResource<?, S>, S, O, P extends Plan<R>, W>
    implements Reconciler<R> {

  private static final Logger LOG = LoggerFactory.getLogger(DriverReconciler.class);
  private static final ExecutorService STARTER = Executors.newVirtualThreadPerTaskExecutor();

  private final DriverKind<R, S, O, P, W> kind;
  private final KindTraits<R> traits;
  private final DriverStatus<R, S, P, W> status;
  private final Finalizers<R> finalizers;
  private final Actions<R> actions;
  private final StatusReporter<R, S> reporter;
  private final OutcomeListener listener;
  private final Clock clock;
  private final RequeueSource<R> requeues = new RequeueSource<>();
  private final OwnWrites<R> writes = new OwnWrites<>();
  private final Predicate<Class<?>> isServed;

  /**
   * By name, as reconciled last. JOSDK tracks resources by name: the event of a deletion may come
   * with the next resource of that name, and what is remembered by UID is that of the former.
   */
  private final Map<ResourceID, R> reconciled = new ConcurrentHashMap<>();

  /**
   * Watches that have not started: of types that the server does not have, or of an unused kind.
   */
  private final List<EventSource<?, R>> deferred = new ArrayList<>();

  private volatile boolean watching;

  /**
   * A reconciler for one kind.
   *
   * @param everyKind the ownership labels of every kind
   * @param isServed whether the server has a type now, or its CRD is missing
   */
  public DriverReconciler(
      DriverKind<R, S, O, P, W> kind,
      List<OwnershipLabels> everyKind,
      EventWriter events,
      OutcomeListener listener,
      Predicate<Class<?>> isServed,
      Clock clock) {
    this.kind = kind;
    this.isServed = isServed;
    this.traits = kind.traits();
    this.status = kind.status();
    this.finalizers = new Finalizers<>(traits.finalizers());
    this.actions =
        new Actions<>(traits, new NotOwnedObjects(everyKind), kind::describe, listener, clock);
    this.reporter = new StatusReporter<>(status.mapper(), events, listener, writes, clock);
    this.listener = listener;
    this.clock = clock;
  }

  /**
   * A kind without resources has a watch of its resources only: those of its objects and of what
   * else it observes start with the first resource. Most clusters use one kind, and the watches of
   * the others would cost memory and time at the start.
   */
  @Override
  public List<EventSource<?, R>> prepareEventSources(EventSourceContext<R> context) {
    requeues.observe(context.getPrimaryCache());
    watching = hasResources(context.getClient());
    var sources = new ArrayList<EventSource<?, R>>();
    Stream.concat(
            traits.owned().eventSources(context).stream(),
            kind.eventSources(context, requeues::requeue).stream())
        .forEach(
            source ->
                (watching && isServed.test(source.resourceType()) ? sources : deferred)
                    .add(source));
    sources.add(requeues);
    return sources;
  }

  private boolean hasResources(KubernetesClient client) {
    try {
      return !client
          .resources(traits.type())
          .inAnyNamespace()
          .list(new ListOptionsBuilder().withLimit(1L).build())
          .getItems()
          .isEmpty();
    } catch (KubernetesClientException _) {
      // the watch of the resources reports it
      return true;
    }
  }

  /** Starts the watches of a type that the server has by now; waits until they are filled. */
  public void onServed(Class<?> type, EventSourceRetriever<R> sources) {
    synchronized (deferred) {
      if (watching) {
        start(source -> source.resourceType().equals(type), sources);
      }
    }
  }

  /** Waits until the watches are filled: a decision on empty caches would be wrong. */
  private void startWatches(EventSourceRetriever<R> sources) {
    if (watching) {
      return;
    }
    synchronized (deferred) {
      if (!watching) {
        start(source -> isServed.test(source.resourceType()), sources);
        watching = true;
      }
    }
  }

  private void start(Predicate<EventSource<?, R>> which, EventSourceRetriever<R> sources) {
    List<EventSource<?, R>> chosen = deferred.stream().filter(which).toList();
    try {
      ExecutorServiceManager.executeAndWaitForAllToComplete(
          chosen.stream(),
          source -> {
            sources.dynamicallyRegisterEventSource(source);
            return null;
          },
          EventSource::name,
          STARTER);
    } catch (OperatorException e) {
      throw serverError(e).map(RuntimeException.class::cast).orElse(e);
    }
    deferred.removeAll(chosen);
  }

  private static Optional<KubernetesClientException> serverError(Throwable failure) {
    return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
        .filter(KubernetesClientException.class::isInstance)
        .map(KubernetesClientException.class::cast)
        .findFirst();
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
    var id = ResourceID.fromResource(cached);
    if (context.isPrimaryResourceDeleted()) {
      forget(reconciled.getOrDefault(id, cached));
      reconciled.remove(id);
      return control;
    }
    forgetFormer(id, cached);
    startWatches(context.eventSourceRetriever());
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

  /** Reports a persistent error; JOSDK retries in any case. */
  @Override
  public ErrorStatusUpdateControl<R> updateErrorStatus(
      R cached, Context<R> context, Exception failure) {
    int attempt = context.getRetryInfo().map(RetryInfo::getAttemptCount).orElse(0);
    Optional<Problem> lasting = Failures.problem(failure, attempt);
    log(cached, failure, attempt, lasting.isPresent());
    try {
      var id = ResourceID.fromResource(cached);
      if (!requeues.isPresent(id)) {
        // JOSDK 5.2.3 loses a deletion that it observes while a reconciliation fails
        R former = reconciled.remove(id);
        forget(former == null ? cached : former);
      } else if (!context.isPrimaryResourceDeleted()) {
        var cluster = new CachedReader<>(context, traits.owned());
        lasting.ifPresent(
            problem -> {
              R resource = writes.fresh(cached, context.getClient());
              reporter.report(resource, status.failed(resource, problem, cluster), context);
            });
      }
    } catch (KubernetesClientException e) {
      LOG.atWarn()
          .addKeyValue("resource", ObjectRef.of(cached))
          .addKeyValue("cause", Refusal.reason(e))
          .log("The failure cannot be reported in the status, or nodes cannot be released.");
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
    return ErrorStatusUpdateControl.defaultErrorProcessing();
  }

  /** In one line, instead of JOSDK, which adds the whole resource and a stack at each retry. */
  private void log(R resource, Exception failure, int attempt, boolean lasting) {
    LoggingEventBuilder line =
        failure instanceof KubernetesClientException e
            ? (lasting ? LOG.atWarn() : LOG.atInfo()).addKeyValue("cause", Refusal.reason(e))
            : LOG.atError().setCause(failure);
    line.addKeyValue("resource", ObjectRef.of(resource))
        .addKeyValue("attempt", attempt + 1)
        .log("Reconciliation failed and is retried.");
  }

  /** While volumes need the driver it is reconciled as ever, although the resource is deleted. */
  private Optional<Duration> deploy(R resource, Optional<Hold> hold, CachedReader<R> cluster) {
    O observed = kind.observe(resource, cluster);

    P plan = kind.decide(resource, observed);

    R current = keep(resource, hold, cluster);
    Actions.Result result = actions.perform(current, plan.action(), hold.isPresent(), cluster);
    plan.triggers().forEach(requeues::requeue);
    W running = kind.rollOut(current, plan, result.problem(), cluster);

    reporter.emit(current, result.outcome().map(EventMessage::about).orElse(List.of()));
    reporter.report(
        current,
        status.deployed(current, plan, running, result.problem(), hold),
        cluster.context());
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
                            status.problemSince(resource.getStatus()), clock.instant())));
  }

  private Optional<Duration> leaveAlone(R resource, CachedReader<R> cluster) {
    kind.endRollout(resource);
    reporter.report(resource, status.unmanaged(resource, cluster), cluster.context());
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
        reporter.report(resource, status.removing(resource, Optional.empty()), cluster.context());
    Outcome outcome = actions.remove(current, cluster);
    if (outcome.complete()) {
      finalizers.remove(current, cluster.client());
      return Optional.empty();
    }
    var problem = Actions.waiting(outcome.pending());
    reporter.report(current, status.removing(current, Optional.of(problem)), cluster.context());
    return requeueAfter(current, problem);
  }

  private Optional<Duration> finish(R resource) {
    kind.endRollout(resource);
    return Optional.empty();
  }

  private void forgetFormer(ResourceID id, R resource) {
    R former = reconciled.get(id);
    if (former != null && !former.getMetadata().getUid().equals(resource.getMetadata().getUid())) {
      forget(former);
    }
    reconciled.put(id, resource);
  }

  /** What needs no server first: nothing must stay in memory because nodes cannot be released. */
  private void forget(R resource) {
    kind.forget(resource);
    actions.forget(resource);
    writes.forget(resource);
    listener.deleted(resource);
    kind.endRollout(resource);
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
