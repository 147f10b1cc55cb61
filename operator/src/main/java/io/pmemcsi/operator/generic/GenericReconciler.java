package io.pmemcsi.operator.generic;

import static io.pmemcsi.api.generic.CSIDriverDeploymentStatus.STATE_MANAGED;
import static io.pmemcsi.api.generic.CSIDriverDeploymentStatus.STATE_REMOVED;
import static io.pmemcsi.api.generic.CSIDriverDeploymentStatus.STATE_UNMANAGED;
import static io.pmemcsi.api.generic.DriverCondition.SYNC_SUCCESSFUL;
import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.RetryInfo;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.generic.CSIDriverDeployment;
import io.pmemcsi.api.generic.CSIDriverDeploymentChecks;
import io.pmemcsi.api.generic.CSIDriverDeploymentStatus;
import io.pmemcsi.api.generic.DriverCondition;
import io.pmemcsi.api.generic.GenericSettings;
import io.pmemcsi.operator.draining.NodeUpdates;
import io.pmemcsi.operator.draining.UpdateRequest;
import io.pmemcsi.operator.engine.ApiCluster;
import io.pmemcsi.operator.engine.Blueprint;
import io.pmemcsi.operator.engine.Engine;
import io.pmemcsi.operator.engine.FormerLabels;
import io.pmemcsi.operator.engine.ObjectRef;
import io.pmemcsi.operator.engine.Outcome;
import io.pmemcsi.operator.engine.Owner;
import io.pmemcsi.operator.events.EventWriter;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.guard.DeletionDecision;
import io.pmemcsi.operator.guard.DeletionGuard;
import io.pmemcsi.operator.metrics.OutcomeListener;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One walk per change: read and check, look for conflicts, blueprint, engine, status. It never
 * walks back, and everything that it decides is decided by pure code beside it. It handles
 * deletions itself, because the documented finalizer is not one that the SDK would take.
 */
public final class GenericReconciler implements Reconciler<CSIDriverDeployment> {

  /** Under which all objects are written. */
  public static final String FIELD_MANAGER = "csi-driver-operator";

  private static final Logger LOG = LoggerFactory.getLogger(GenericReconciler.class);

  /** How soon to look whether what is in the way is gone. */
  private static final Duration SOON = Duration.ofSeconds(2);

  private static final int ATTEMPTS_BEFORE_FAILED = 3;

  private final Supplier<ClusterFacts> facts;
  private final Supplier<OperatorConfig> config;
  private final GenericWatches watches;
  private final EventWriter events;
  private final OutcomeListener listener;
  private final Clock clock;
  private final DeletionGuard guard;
  private final NodeUpdates nodeUpdates;

  public GenericReconciler(
      Supplier<ClusterFacts> facts,
      Supplier<OperatorConfig> config,
      DeletionGuard guard,
      NodeUpdates nodeUpdates,
      EventWriter events,
      OutcomeListener listener,
      Clock clock) {
    this.facts = facts;
    this.config = config;
    this.guard = guard;
    this.nodeUpdates = nodeUpdates;
    this.watches = new GenericWatches(config);
    this.events = events;
    this.listener = listener;
    this.clock = clock;
  }

  @Override
  public List<EventSource<?, CSIDriverDeployment>> prepareEventSources(
      EventSourceContext<CSIDriverDeployment> context) {
    return watches.eventSources(context);
  }

  /** Has every resource looked at again, with the configuration of now. */
  public void configurationChanged() {
    watches.wakeAll();
  }

  @Override
  public UpdateControl<CSIDriverDeployment> reconcile(
      CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    UpdateControl<CSIDriverDeployment> control = UpdateControl.noUpdate();
    if (context.isPrimaryResourceDeleted()) {
      nodeUpdates.release(resource);
      listener.gone(resource);
      return control;
    }
    if (resource.getMetadata().getDeletionTimestamp() != null) {
      remove(resource, context).ifPresent(control::rescheduleAfter);
      return control;
    }
    if (isUnmanaged(resource)) {
      nodeUpdates.release(resource);
      publish(resource, unmanaged(resource, context), context);
      return control;
    }
    try {
      Round round = round(resource, context);
      publish(round.resource(), round.found(), context);
      round.again().ifPresent(control::rescheduleAfter);
      return control;
    } catch (KubernetesClientException e) {
      if (permanent(e) || attempt(context) >= ATTEMPTS_BEFORE_FAILED) {
        publish(
            resource,
            failed(resource, "ServerError", "the API server refuses: " + message(e), context),
            context);
      }
      throw e;
    } catch (RuntimeException e) {
      // nothing may fail without a word, not even by our own mistake
      publish(
          resource,
          failed(resource, "OperatorError", "the operator failed, and tries again: " + e, context),
          context);
      throw e;
    }
  }

  /** What one walk found, and when to walk again without being woken. */
  private record Round(
      CSIDriverDeployment resource, GenericFindings found, Optional<Duration> again) {}

  private Round round(CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    List<Violation> violations = CSIDriverDeploymentChecks.check(resource);
    if (!violations.isEmpty()) {
      String message =
          violations.stream().map(Violation::message).collect(Collectors.joining("\n"));
      return new Round(resource, failed(resource, "Invalid", message, context), Optional.empty());
    }
    GenericSettings settings;
    Blueprint blueprint;
    OperatorConfig current = config.get();
    try {
      settings = GenericSettings.of(resource);
      blueprint =
          GenericBlueprint.of(
              resource.getMetadata().getNamespace(),
              resource.getMetadata().getName(),
              settings,
              current,
              facts.get());
    } catch (IllegalArgumentException e) {
      return new Round(
          resource,
          failed(resource, "Invalid", String.valueOf(e.getMessage()), context),
          Optional.empty());
    }
    List<String> conflicts = conflicts(resource, settings, current, context);
    if (!conflicts.isEmpty()) {
      return new Round(
          resource,
          failed(resource, "Conflict", String.join("\n", conflicts), context),
          Optional.of(SOON));
    }
    CSIDriverDeployment kept = Finalizers.add(resource, context.getClient());
    return bring(kept, settings, blueprint, context);
  }

  private List<String> conflicts(
      CSIDriverDeployment resource,
      GenericSettings settings,
      OperatorConfig current,
      Context<CSIDriverDeployment> context) {
    List<CSIDriverDeployment> rivals = watches.rivals(resource, context);
    var conflicts = new Conflicts(current);
    conflicts.younger(resource, rivals).stream()
        .filter(younger -> !isReason(younger, "Conflict"))
        .filter(younger -> younger.getMetadata().getDeletionTimestamp() == null)
        .filter(younger -> !isUnmanaged(younger))
        .forEach(watches::wake);
    return conflicts.of(resource, rivals, GenericWatches.pmem(settings.driver().value(), context));
  }

  private Round bring(
      CSIDriverDeployment resource,
      GenericSettings settings,
      Blueprint blueprint,
      Context<CSIDriverDeployment> context) {
    Outcome outcome = engine(context).bring(Owner.of(resource), blueprint, cluster(context));
    listener.brought(resource, outcome);
    if (outcome.changedSomething()) {
      LOG.atInfo()
          .addKeyValue("namespace", resource.getMetadata().getNamespace())
          .addKeyValue("name", resource.getMetadata().getName())
          .addKeyValue("applied", outcome.applied().size())
          .addKeyValue("recreated", outcome.recreated().size())
          .addKeyValue("pruned", outcome.pruned().size())
          .log("Objects brought to the wanted state.");
    }
    for (ObjectRef object : outcome.recreated()) {
      events.write(
          resource,
          GenericAnnouncements.recreated(object),
          String.valueOf(resource.getMetadata().getGeneration()));
    }
    if (!outcome.conflicts().isEmpty()) {
      return new Round(
          resource,
          failed(resource, "ForeignObject", foreign(outcome), context),
          Optional.of(SOON));
    }
    if (!outcome.complete()) {
      String waiting =
          "waiting until %s is gone, to make it anew".formatted(names(outcome.pending()));
      return new Round(resource, failed(resource, "Waiting", waiting, context), Optional.of(SOON));
    }
    Availability availability =
        availability(resource, settings.controllerTemplate().isPresent(), context);
    Optional<NodeUpdates.Progress> progress =
        daemonSet(resource, context)
            .filter(found -> found.getStatus() != null)
            .map(found -> nodeUpdates.advance(request(resource, settings, found)));
    return new Round(
        resource,
        new GenericFindings(
            resource.getMetadata().getGeneration(),
            STATE_MANAGED,
            true,
            List.of(
                availability.condition(),
                GenericFindings.condition(
                    SYNC_SUCCESSFUL, true, "Synced", "All objects are as they should be.")),
            Optional.of(availability.children()),
            progress.map(NodeUpdates.Progress::status)),
        progress.flatMap(NodeUpdates.Progress::again));
  }

  private static UpdateRequest request(
      CSIDriverDeployment resource, GenericSettings settings, DaemonSet daemonSet) {
    return UpdateRequest.of(
        resource,
        settings.driver().value(),
        settings.nodeUpdateStrategy(),
        settings.draining(),
        daemonSet);
  }

  private static Optional<DaemonSet> daemonSet(
      CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    return secondary(
        context, DaemonSet.class, GenericDriver.nodeWorkload(resource.getMetadata().getName()));
  }

  /** Removes what was made for the resource, or sets it free; then lets the resource go. */
  private Optional<Duration> remove(
      CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    // an update that is under way ends here, whether the driver may go yet or not
    nodeUpdates.release(resource);
    if (!Finalizers.has(resource)) {
      return Optional.empty();
    }
    if (isUnmanaged(resource)) {
      engine(context).release(Owner.of(resource), cluster(context));
      Finalizers.remove(resource, context.getClient());
      return Optional.empty();
    }
    return switch (mayGo(resource, context)) {
      case DeletionDecision.Hold hold -> {
        publish(
            resource,
            removed(
                resource,
                List.of(
                    GenericFindings.condition(
                        DeletionDecision.Hold.CONDITION,
                        true,
                        DeletionDecision.Hold.REASON,
                        hold.message()))),
            context);
        yield Optional.of(hold.again());
      }
      case DeletionDecision.Go _ -> {
        CSIDriverDeployment current = publish(resource, removed(resource, List.of()), context);
        Outcome outcome = engine(context).remove(Owner.of(resource), cluster(context));
        listener.brought(resource, outcome);
        if (!outcome.complete()) {
          yield Optional.of(SOON);
        }
        Finalizers.remove(current, context.getClient());
        yield Optional.empty();
      }
    };
  }

  /** Asks for the driver that is installed: the resource may name another one by now. */
  private DeletionDecision mayGo(
      CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    String driver =
        context
            .getSecondaryResourcesAsStream(CSIDriver.class)
            .map(object -> object.getMetadata().getName())
            .findFirst()
            .orElse(String.valueOf(resource.getSpec().driverName()));
    return cluster(context).ownedBy(Owner.of(resource)).isEmpty()
        ? new DeletionDecision.Go()
        : guard.decide(resource, resource.getSpec().deletionPolicy(), driver);
  }

  private static GenericFindings removed(
      CSIDriverDeployment resource, List<DriverCondition> conditions) {
    return new GenericFindings(
        resource.getMetadata().getGeneration(),
        STATE_REMOVED,
        false,
        conditions,
        Optional.empty(),
        Optional.empty());
  }

  /** Nothing is written, but whether the driver runs can still be said. */
  private GenericFindings unmanaged(
      CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    boolean hasController = resource.getSpec().driverControllerTemplate() != null;
    return new GenericFindings(
        resource.getMetadata().getGeneration(),
        STATE_UNMANAGED,
        false,
        List.of(availability(resource, hasController, context).condition()),
        Optional.empty(),
        Optional.empty());
  }

  /** Whether the driver runs does not depend on whether its last change could be carried out. */
  private GenericFindings failed(
      CSIDriverDeployment resource,
      String reason,
      String message,
      Context<CSIDriverDeployment> context) {
    boolean hadController =
        secondary(context, Deployment.class, controllerName(resource)).isPresent();
    return new GenericFindings(
        resource.getMetadata().getGeneration(),
        STATE_MANAGED,
        false,
        List.of(
            availability(resource, hadController, context).condition(),
            GenericFindings.condition(SYNC_SUCCESSFUL, false, reason, message)),
        Optional.empty(),
        Optional.empty());
  }

  private static Availability availability(
      CSIDriverDeployment resource, boolean hasController, Context<CSIDriverDeployment> context) {
    return new Availability(
        daemonSet(resource, context),
        secondary(context, Deployment.class, controllerName(resource)),
        hasController);
  }

  private static String controllerName(CSIDriverDeployment resource) {
    return GenericDriver.controllerWorkload(resource.getMetadata().getName());
  }

  private static String foreign(Outcome outcome) {
    return names(outcome.conflicts())
        + ": exists, but was not made for this resource; remove it or choose another name";
  }

  private static String names(List<ObjectRef> objects) {
    return objects.stream().map(ObjectRef::toString).collect(Collectors.joining(", "));
  }

  /** Writes events first: repeated after a crash they meet themselves, a status would hide them. */
  private CSIDriverDeployment publish(
      CSIDriverDeployment resource, GenericFindings found, Context<CSIDriverDeployment> context) {
    CSIDriverDeployment current = resource;
    for (int attempt = 0; ; attempt++) {
      CSIDriverDeploymentStatus previous = current.getStatus();
      CSIDriverDeploymentStatus next = GenericStatus.next(previous, found, clock.instant());
      listener.phase(resource, phase(next));
      if (next.equals(previous)) {
        return current;
      }
      for (var announcement : GenericAnnouncements.of(previous, next)) {
        events.write(resource, announcement, occasion(previous));
      }
      try {
        var copy = context.getClient().getKubernetesSerialization().clone(current);
        copy.setStatus(next);
        return context.getClient().resource(copy).updateStatus();
      } catch (KubernetesClientException e) {
        if (e.getCode() == HTTP_NOT_FOUND) {
          return current;
        }
        if (e.getCode() != HTTP_CONFLICT || attempt > 0) {
          throw e;
        }
        CSIDriverDeployment fresh = context.getClient().resource(resource).get();
        if (fresh == null
            || !fresh.getMetadata().getUid().equals(resource.getMetadata().getUid())) {
          return current;
        }
        current = fresh;
      }
    }
  }

  /** Tells one failure from the same failure later on. */
  private static String occasion(CSIDriverDeploymentStatus previous) {
    return previous.observedGeneration()
        + previous.conditions().stream()
            .map(condition -> " " + condition.lastTransitionTime())
            .collect(Collectors.joining());
  }

  private static String phase(CSIDriverDeploymentStatus status) {
    if (!STATE_MANAGED.equals(status.state())) {
      return String.valueOf(status.state());
    }
    if (is(status, SYNC_SUCCESSFUL, GenericFindings.FALSE)) {
      return "Failed";
    }
    return is(status, DriverCondition.AVAILABLE, GenericFindings.TRUE)
        ? "Available"
        : "NotAvailable";
  }

  private static boolean is(CSIDriverDeploymentStatus status, String type, String value) {
    return status.condition(type).filter(one -> one.status().equals(value)).isPresent();
  }

  private static boolean isReason(CSIDriverDeployment resource, String reason) {
    return resource
        .getStatus()
        .condition(SYNC_SUCCESSFUL)
        .filter(condition -> reason.equals(condition.reason()))
        .isPresent();
  }

  /** Asked before anything is checked: a wrong resource can be set aside, too. */
  private static boolean isUnmanaged(CSIDriverDeployment resource) {
    return STATE_UNMANAGED.equals(resource.getSpec().managementState());
  }

  private static Engine engine(Context<CSIDriverDeployment> context) {
    return new Engine(
        GenericWatches.MARKS,
        context.getControllerConfiguration().fieldManager(),
        FormerLabels.DROP,
        context.getClient().getKubernetesSerialization());
  }

  private ApiCluster<CSIDriverDeployment> cluster(Context<CSIDriverDeployment> context) {
    return new ApiCluster<>(context, watches.owned());
  }

  private static <R extends HasMetadata> Optional<R> secondary(
      Context<CSIDriverDeployment> context, Class<R> kind, String name) {
    return context
        .getSecondaryResourcesAsStream(kind)
        .filter(object -> object.getMetadata().getName().equals(name))
        .findFirst();
  }

  private static boolean permanent(KubernetesClientException e) {
    return switch (e.getCode()) {
      case 400, 403, 422 -> true;
      default -> false;
    };
  }

  private static int attempt(Context<CSIDriverDeployment> context) {
    return context.getRetryInfo().map(RetryInfo::getAttemptCount).orElse(0);
  }

  private static String message(KubernetesClientException e) {
    String status = e.getStatus() == null ? null : e.getStatus().getMessage();
    return status == null ? String.valueOf(e.getMessage()) : status;
  }
}
