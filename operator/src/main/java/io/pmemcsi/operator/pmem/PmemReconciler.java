package io.pmemcsi.operator.pmem;

import static io.pmemcsi.api.pmem.DeploymentCondition.DRIVER_DEPLOYED;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.inbound.SimpleInboundEventSource;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentChecks;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.api.pmem.UnpreparedNode;
import io.pmemcsi.operator.engine.ApiCluster;
import io.pmemcsi.operator.engine.Blueprint;
import io.pmemcsi.operator.engine.Engine;
import io.pmemcsi.operator.engine.Outcome;
import io.pmemcsi.operator.engine.Owner;
import io.pmemcsi.operator.engine.RefusedObjectException;
import io.pmemcsi.operator.events.EventWriter;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.guard.DeletionDecision;
import io.pmemcsi.operator.guard.DeletionGuard;
import io.pmemcsi.operator.guard.UsageReader;
import io.pmemcsi.operator.metrics.OutcomeListener;
import io.pmemcsi.operator.reconcile.Failures;
import io.pmemcsi.operator.reconcile.ForeignObjects;
import io.pmemcsi.operator.reconcile.HeldDeletion;
import io.pmemcsi.operator.reconcile.StatusPublisher;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One walk per change: read and check, facts, blueprint, engine, status. It never walks back, and
 * everything that it decides is decided by pure code beside it.
 */
public final class PmemReconciler
    implements Reconciler<PmemCSIDeployment>, Cleaner<PmemCSIDeployment> {

  /** Under which all objects are written. */
  public static final String FIELD_MANAGER = "pmem-csi-operator";

  /** With the value true, a driver goes with its resource whatever still uses it. */
  public static final String FORCE_DELETION = PmemCSIDeployment.GROUP + "/force-deletion";

  private static final Logger LOG = LoggerFactory.getLogger(PmemReconciler.class);

  /** How soon to look whether a foreign object or a dying one is gone; it is not watched. */
  private static final Duration SOON = Duration.ofSeconds(2);

  private static final Duration AT_LEAST_DAILY = Duration.ofDays(1);
  private static final Duration ASK_NODES_AGAIN = Duration.ofMinutes(1);

  /** A node port that is taken may be free one day, and nothing tells. */
  private static final Duration ASK_SERVER_AGAIN = Duration.ofSeconds(30);

  /** A container that ends does not change the counts of its workload, so nothing wakes us. */
  private static final Duration ASK_PODS_AGAIN = Duration.ofSeconds(15);

  private final Supplier<ClusterFacts> facts;
  private final PmemWatches watches;
  private final DeletionGuard guard;
  private final StatusPublisher<PmemCSIDeployment, PmemCSIDeploymentStatus, Findings> status;
  private final OutcomeListener listener;
  private final Clock clock;
  private final NodeMemory memory;
  private final SimpleInboundEventSource<PmemCSIDeployment> wakeUps =
      new SimpleInboundEventSource<>("wake-ups");
  private final Set<String> searchedForFormer = ConcurrentHashMap.newKeySet();

  public PmemReconciler(
      Supplier<ClusterFacts> facts,
      String namespace,
      UsageReader usage,
      EventWriter events,
      OutcomeListener listener,
      Clock clock) {
    this.facts = facts;
    this.watches = new PmemWatches(namespace);
    this.guard = new DeletionGuard(usage, FORCE_DELETION);
    this.status = new StatusPublisher<>(new PmemStatus(), events, listener, clock);
    this.listener = listener;
    this.clock = clock;
    this.memory = new NodeMemory(MemoryReader.overHttp(), clock, ASK_NODES_AGAIN);
  }

  @Override
  public List<EventSource<?, PmemCSIDeployment>> prepareEventSources(
      EventSourceContext<PmemCSIDeployment> context) {
    var sources = new ArrayList<>(watches.eventSources(context));
    sources.add(wakeUps);
    return sources;
  }

  @Override
  public UpdateControl<PmemCSIDeployment> reconcile(
      PmemCSIDeployment resource, Context<PmemCSIDeployment> context) {
    if (PmemAnnouncements.isNew(resource.getStatus())) {
      status.announce(resource, PmemAnnouncements.NEW, "");
    }
    return telling(
        resource,
        context,
        () -> {
          Round round = round(resource, context);
          status.publish(resource, round.found(), context.getClient());
          UpdateControl<PmemCSIDeployment> control = UpdateControl.noUpdate();
          round.again().ifPresent(control::rescheduleAfter);
          return control;
        });
  }

  /** While volumes hold the driver back it is looked after as ever: somebody needs it. */
  @Override
  public DeleteControl cleanup(PmemCSIDeployment resource, Context<PmemCSIDeployment> context) {
    String driver = resource.getMetadata().getName();
    return telling(
        resource,
        context,
        () ->
            switch (guard.decide(resource, resource.getSpec().deletionPolicy(), driver)) {
              case DeletionDecision.Go() -> remove(resource, context);
              case DeletionDecision.Hold hold -> {
                HeldDeletion.inBackground(resource, context.getClient());
                Findings found = round(resource, context).found().and(held(hold));
                status.publish(resource, found, context.getClient());
                yield DeleteControl.noFinalizerRemoval().rescheduleAfter(hold.again());
              }
            });
  }

  private DeleteControl remove(PmemCSIDeployment resource, Context<PmemCSIDeployment> context) {
    Outcome outcome =
        engine(context).remove(Owner.of(resource), new ApiCluster<>(context, watches.owned()));
    listener.brought(resource, outcome);
    if (!outcome.complete()) {
      Findings found =
          new Findings(
                  resource.getMetadata().getGeneration(),
                  Optional.empty(),
                  List.of(),
                  List.of(),
                  resource.getStatus().unpreparedNodes(),
                  Optional.ofNullable(resource.getStatus().certificateExpires()))
              .waitingFor(outcome.pending());
      status.publish(resource, found, context.getClient());
      return DeleteControl.noFinalizerRemoval().rescheduleAfter(SOON);
    }
    searchedForFormer.remove(resource.getMetadata().getUid());
    LOG.atInfo()
        .addKeyValue("deployment", resource.getMetadata().getName())
        .addKeyValue("removed", outcome.pruned().size())
        .log("Driver removed.");
    return DeleteControl.defaultDelete();
  }

  private static DeploymentCondition held(DeletionDecision.Hold hold) {
    return Findings.condition(
        DeletionDecision.Hold.CONDITION, true, DeletionDecision.Hold.REASON, hold.message());
  }

  /** Whatever goes wrong is told in the status, too. */
  private <T> T telling(
      PmemCSIDeployment resource, Context<PmemCSIDeployment> context, Supplier<T> walk) {
    return Failures.telling(
        context,
        walk,
        failure ->
            status.publish(resource, failed(resource, failure.message()), context.getClient()));
  }

  /** What one walk found, and when to walk again without being woken. */
  private record Round(Findings found, Optional<Duration> again) {}

  private Round round(PmemCSIDeployment resource, Context<PmemCSIDeployment> context) {
    PmemSettings settings;
    PmemCertificates.Prepared prepared;
    Blueprint blueprint;
    List<Violation> violations = PmemCSIDeploymentChecks.check(resource);
    if (!violations.isEmpty()) {
      String reason = violations.stream().map(Violation::message).collect(Collectors.joining("; "));
      return new Round(failed(resource, reason), Optional.empty());
    }
    try {
      settings = PmemSettings.of(resource);
      ClusterFacts known = facts.get();
      prepared =
          new PmemCertificates(settings, known, clock.instant())
              .prepare(
                  name -> watches.secret(context, name), name -> ownSecret(context, known, name));
      if (prepared.failure().isPresent()) {
        return new Round(failed(resource, prepared), Optional.empty());
      }
      blueprint =
          PmemBlueprint.of(
              settings,
              known,
              prepared.certificates(),
              prepared.secrets(),
              answers(new PmemNames(settings.driver()), context));
    } catch (IllegalArgumentException e) {
      return new Round(failed(resource, String.valueOf(e.getMessage())), Optional.empty());
    }
    return bring(resource, settings, prepared, blueprint, context);
  }

  /**
   * Whether the webhook has answered once. Before that it must not be able to refuse pods: those of
   * the whole cluster would wait for a controller that perhaps never starts.
   */
  private static boolean answers(PmemNames names, Context<PmemCSIDeployment> context) {
    boolean ready =
        Components.controller(
                secondary(context, Deployment.class, names.controller()), Optional::empty)
            .status()
            .equals(DriverComponent.READY);
    return ready
        || secondary(context, MutatingWebhookConfiguration.class, names.webhookConfiguration())
            .filter(
                hook ->
                    hook.getWebhooks().stream()
                        .anyMatch(one -> PmemBlueprint.MUST_ANSWER.equals(one.getFailurePolicy())))
            .isPresent();
  }

  /** One that we wrote a moment ago must be seen, or it would be issued again. */
  private Optional<Secret> ownSecret(
      Context<PmemCSIDeployment> context, ClusterFacts known, String name) {
    var wanted =
        new SecretBuilder()
            .withNewMetadata()
            .withName(name)
            .withNamespace(known.namespace())
            .endMetadata()
            .build();
    return new ApiCluster<>(context, watches.owned()).find(wanted).map(Secret.class::cast);
  }

  private Round bring(
      PmemCSIDeployment resource,
      PmemSettings settings,
      PmemCertificates.Prepared prepared,
      Blueprint blueprint,
      Context<PmemCSIDeployment> context) {
    String uid = resource.getMetadata().getUid();
    boolean searched = searchedForFormer.contains(uid);
    var owner = Owner.of(resource);
    var cluster = new ApiCluster<>(context, watches.owned());
    Outcome outcome;
    try {
      outcome =
          engine(context)
              .bring(
                  owner,
                  searched ? blueprint.withoutFormer() : blueprint,
                  object -> isNew(resource) && RefusedFields.dependOn(object),
                  cluster);
    } catch (RefusedObjectException e) {
      return new Round(failed(resource, RefusedFields.describe(e)), Optional.of(ASK_SERVER_AGAIN));
    }
    listener.brought(resource, outcome);
    listener.owns(resource, cluster.ownedBy(owner));
    if (outcome.changedSomething()) {
      LOG.atInfo()
          .addKeyValue("deployment", resource.getMetadata().getName())
          .addKeyValue("applied", outcome.applied().size())
          .addKeyValue("recreated", outcome.recreated().size())
          .addKeyValue("pruned", outcome.pruned().size())
          .log("Objects brought to the wanted state.");
    }
    if (!outcome.conflicts().isEmpty()) {
      String foreign =
          ForeignObjects.describe(resource, outcome.conflicts(), blueprint, context.getClient());
      return new Round(failed(resource, foreign), Optional.of(SOON));
    }
    searchedForFormer.add(uid);
    Findings found = deployed(resource, settings, prepared, context);
    if (!outcome.complete()) {
      return new Round(found.waitingFor(outcome.pending()), Optional.of(SOON));
    }
    if (found.awaitsPods()) {
      return new Round(found, Optional.of(ASK_PODS_AGAIN));
    }
    return new Round(
        found,
        found.unpreparedNodes().isEmpty() ? until(prepared.due()) : Optional.of(ASK_NODES_AGAIN));
  }

  /** Whether nothing of what the user wrote last has been seen to work yet. */
  private static boolean isNew(PmemCSIDeployment resource) {
    PmemCSIDeploymentStatus before = resource.getStatus();
    return !resource.getMetadata().getGeneration().equals(before.observedGeneration())
        || before.phaseOrNew().equals(PmemCSIDeploymentStatus.PHASE_FAILED);
  }

  private static Engine engine(Context<PmemCSIDeployment> context) {
    return new Engine(
        PmemWatches.MARKS,
        context.getControllerConfiguration().fieldManager(),
        context.getClient().getKubernetesSerialization());
  }

  private Findings deployed(
      PmemCSIDeployment resource,
      PmemSettings settings,
      PmemCertificates.Prepared prepared,
      Context<PmemCSIDeployment> context) {
    var driver = new Driver(settings, facts.get());
    var names = driver.names();
    var components = new ArrayList<DriverComponent>();
    if (prepared.certificates().isPresent()) {
      components.add(
          Components.controller(
              secondary(context, Deployment.class, names.controller()),
              () -> PodTrouble.of(pods(driver, Part.CONTROLLER, context))));
    }
    DriverComponent nodes =
        Components.node(
            secondary(context, DaemonSet.class, names.nodeDaemonSet()),
            settings.nodeSelector(),
            () -> PodTrouble.of(pods(driver, Part.NODE, context)));
    components.add(nodes);
    var conditions = new ArrayList<>(prepared.conditions());
    conditions.add(Findings.condition(DRIVER_DEPLOYED, true, "Driver deployed successfully."));
    sharing(resource, context).ifPresent(conditions::add);
    return new Findings(
        resource.getMetadata().getGeneration(),
        Optional.empty(),
        conditions,
        components,
        nodes.status().equals(DriverComponent.READY)
            ? unprepared(resource, driver, context)
            : resource.getStatus().unpreparedNodes(),
        prepared.expires());
  }

  private List<UnpreparedNode> unprepared(
      PmemCSIDeployment resource, Driver driver, Context<PmemCSIDeployment> context) {
    return memory.unprepared(
        pods(driver, Part.NODE, context),
        driver.names(),
        resource.getStatus().unpreparedNodes().stream()
            .map(UnpreparedNode::node)
            .collect(Collectors.toSet()),
        () -> wakeUps.propagateEvent(ResourceID.fromResource(resource)));
  }

  /** Asked for when needed: a cache of the pods of thousands of nodes would be big. */
  private static List<Pod> pods(Driver driver, Part part, Context<PmemCSIDeployment> context) {
    return context
        .getClient()
        .pods()
        .inNamespace(driver.facts().namespace())
        .withLabels(driver.labels().selector(part))
        .list()
        .getItems();
  }

  private static Optional<DeploymentCondition> sharing(
      PmemCSIDeployment resource, Context<PmemCSIDeployment> context) {
    return NodeSharing.condition(
        resource,
        PmemWatches.others(context, resource.getMetadata().getName()),
        PmemWatches.nodes(context));
  }

  private static Findings failed(PmemCSIDeployment resource, PmemCertificates.Prepared prepared) {
    String reason = prepared.failure().orElseThrow();
    var conditions = new ArrayList<>(prepared.conditions());
    conditions.add(Findings.condition(DRIVER_DEPLOYED, false, reason));
    return Findings.failed(resource.getMetadata().getGeneration(), reason, conditions);
  }

  private static Findings failed(PmemCSIDeployment resource, String reason) {
    return Findings.failed(
        resource.getMetadata().getGeneration(),
        reason,
        List.of(Findings.condition(DRIVER_DEPLOYED, false, reason)));
  }

  private Optional<Duration> until(Optional<Instant> due) {
    return due.map(
        instant -> {
          Duration left = Duration.between(clock.instant(), instant);
          return left.compareTo(SOON) < 0
              ? SOON
              : left.compareTo(AT_LEAST_DAILY) > 0 ? AT_LEAST_DAILY : left;
        });
  }

  private static <R extends HasMetadata> Optional<R> secondary(
      Context<PmemCSIDeployment> context, Class<R> kind, String name) {
    return context
        .getSecondaryResourcesAsStream(kind)
        .filter(object -> object.getMetadata().getName().equals(name))
        .findFirst();
  }
}
