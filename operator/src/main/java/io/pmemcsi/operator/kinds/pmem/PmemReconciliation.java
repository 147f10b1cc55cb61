package io.pmemcsi.operator.kinds.pmem;

import static io.pmemcsi.api.pmem.DeploymentCondition.DRIVER_DEPLOYED;
import static java.util.Comparator.naturalOrder;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentChecks;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.operator.apply.ApiCluster;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.apply.DriftBackoff;
import io.pmemcsi.operator.apply.Engine;
import io.pmemcsi.operator.apply.Outcome;
import io.pmemcsi.operator.apply.Owner;
import io.pmemcsi.operator.apply.RefusedObjectException;
import io.pmemcsi.operator.controller.NotOwnedObjects;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.metrics.OutcomeListener;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One walk for a resource whose driver shall be there: read and check, facts, blueprint, engine,
 * what came of it. It never walks back, and ends at the first thing that is in the way.
 */
final class PmemReconciliation {

  /** How soon to look whether a foreign object or a dying one is gone; it is not watched. */
  static final Duration SOON = Duration.ofSeconds(2);

  private static final Logger LOG = LoggerFactory.getLogger(PmemReconciliation.class);

  private static final Duration AT_LEAST_DAILY = Duration.ofDays(1);
  private static final Duration ASK_NODES_AGAIN = Duration.ofMinutes(1);

  /** A node port that is taken may be free one day, and nothing tells. */
  private static final Duration ASK_SERVER_AGAIN = Duration.ofSeconds(30);

  /** A container that ends does not change the counts of its workload, so nothing wakes us. */
  private static final Duration ASK_PODS_AGAIN = Duration.ofSeconds(15);

  private final Supplier<ClusterFacts> facts;
  private final PmemEventSources watches;
  private final OutcomeListener listener;
  private final Clock clock;
  private final RunningComponents parts;
  private final DriftBackoff disputes;
  private final Set<String> searchedForFormer = ConcurrentHashMap.newKeySet();

  /**
   * @param wakeUp asks for another walk, when a node has answered
   */
  PmemReconciliation(
      Supplier<ClusterFacts> facts,
      PmemEventSources watches,
      OutcomeListener listener,
      Clock clock,
      Consumer<ResourceID> wakeUp) {
    this.facts = facts;
    this.watches = watches;
    this.listener = listener;
    this.clock = clock;
    this.parts =
        new RunningComponents(
            watches.namespace(),
            new NodeMemory(MemoryReader.overHttp(), clock, ASK_NODES_AGAIN),
            wakeUp);
    this.disputes = new DriftBackoff(clock);
  }

  /** For a resource that is gone. */
  void forget(PmemCSIDeployment resource) {
    searchedForFormer.remove(resource.getMetadata().getUid());
    disputes.forget(Owner.of(resource));
    watches.parted(resource);
  }

  /** What one walk found, and when to walk again without being woken. */
  record ReconcileResult(ObservedStatus found, Optional<Duration> again) {}

  ReconcileResult round(PmemCSIDeployment resource, Context<PmemCSIDeployment> context) {
    ReconcileResult looked = lookAndBring(resource, context);
    ReconcileResult round =
        looked.found().failure().isPresent() ? nevertheless(looked, resource, context) : looked;
    // whatever else is wrong with it, others may have come to its nodes, or left them
    return sharing(resource, context)
        .map(condition -> new ReconcileResult(round.found().and(condition), round.again()))
        .orElse(round);
  }

  private ReconcileResult nevertheless(
      ReconcileResult failed, PmemCSIDeployment resource, Context<PmemCSIDeployment> context) {
    ObservedStatus found = parts.nevertheless(failed.found(), resource, context);
    Optional<Duration> sooner =
        Stream.of(failed.again(), askAgain(found)).flatMap(Optional::stream).min(naturalOrder());
    return new ReconcileResult(found, sooner);
  }

  /** When to look for what nothing tells us of. */
  private static Optional<Duration> askAgain(ObservedStatus found) {
    if (found.awaitsPods()) {
      return Optional.of(ASK_PODS_AGAIN);
    }
    return found.unpreparedNodes().isEmpty() ? Optional.empty() : Optional.of(ASK_NODES_AGAIN);
  }

  private ReconcileResult lookAndBring(
      PmemCSIDeployment resource, Context<PmemCSIDeployment> context) {
    PmemSettings settings;
    PmemCertificates.Prepared prepared;
    DesiredState blueprint;
    List<Violation> violations = PmemCSIDeploymentChecks.check(resource);
    if (!violations.isEmpty()) {
      String reason = violations.stream().map(Violation::message).collect(Collectors.joining("; "));
      return new ReconcileResult(failed(resource, reason), Optional.empty());
    }
    try {
      settings = PmemSettings.of(resource);
      ClusterFacts known = facts.get();
      prepared =
          new PmemCertificates(settings, known, clock.instant())
              .prepare(
                  name -> watches.secret(context, name), name -> ownSecret(context, known, name));
      if (prepared.failure().isPresent()) {
        return new ReconcileResult(failed(resource, prepared), until(prepared.due()));
      }
      blueprint =
          PmemDesiredState.of(
              settings,
              known,
              prepared.certificates(),
              prepared.secrets(),
              answers(new PmemNames(settings.driver()), context));
    } catch (IllegalArgumentException e) {
      return new ReconcileResult(
          failed(resource, String.valueOf(e.getMessage())), Optional.empty());
    }
    return bring(resource, settings, prepared, blueprint, context);
  }

  private static boolean answers(PmemNames names, Context<PmemCSIDeployment> context) {
    return Components.webhookAnswers(
        RunningComponents.secondary(context, Deployment.class, names.controller()),
        RunningComponents.secondary(
            context, MutatingWebhookConfiguration.class, names.webhookConfiguration()));
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

  private ReconcileResult bring(
      PmemCSIDeployment resource,
      PmemSettings settings,
      PmemCertificates.Prepared prepared,
      DesiredState blueprint,
      Context<PmemCSIDeployment> context) {
    String uid = resource.getMetadata().getUid();
    boolean searched = searchedForFormer.contains(uid);
    var owner = Owner.of(resource);
    var cluster = new ApiCluster<>(context, watches.owned());
    Outcome outcome;
    try {
      outcome =
          engine(context)
              .apply(
                  owner,
                  searched ? blueprint.withoutLegacyObjects() : blueprint,
                  object -> isNew(resource) && RefusedFields.dependOn(object),
                  disputes.wrap(
                      cluster,
                      owner,
                      resource.getMetadata().getGeneration(),
                      context.getControllerConfiguration().fieldManager(),
                      context.getClient().getKubernetesSerialization()));
    } catch (RefusedObjectException e) {
      return new ReconcileResult(
          failed(resource, new RefusedFields(resource.getSpec()).describe(e)),
          Optional.of(ASK_SERVER_AGAIN));
    }
    listener.applied(resource, outcome);
    listener.ownedObjects(resource, cluster.ownedBy(owner));
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
          NotOwnedObjects.describe(resource, outcome.conflicts(), blueprint, context.getClient());
      return new ReconcileResult(failed(resource, foreign), Optional.of(SOON));
    }
    searchedForFormer.add(uid);
    ObservedStatus found = deployed(resource, settings, prepared, context);
    if (!outcome.complete()) {
      return new ReconcileResult(found.waitingFor(outcome.pending()), Optional.of(SOON));
    }
    List<DriftBackoff.Contention> disputed = disputes.contentions(owner);
    if (!disputed.isEmpty()) {
      return new ReconcileResult(found.contested(disputed), Optional.of(DriftBackoff.INTERVAL));
    }
    return new ReconcileResult(found, askAgain(found).or(() -> until(prepared.due())));
  }

  /** Whether nothing of what the user wrote last has been seen to work yet. */
  private static boolean isNew(PmemCSIDeployment resource) {
    PmemCSIDeploymentStatus before = resource.getStatus();
    return !resource.getMetadata().getGeneration().equals(before.observedGeneration())
        || before.phaseOrNew().equals(PmemCSIDeploymentStatus.PHASE_FAILED);
  }

  static Engine engine(Context<PmemCSIDeployment> context) {
    return new Engine(
        PmemEventSources.MARKS,
        context.getControllerConfiguration().fieldManager(),
        context.getClient().getKubernetesSerialization());
  }

  private ObservedStatus deployed(
      PmemCSIDeployment resource,
      PmemSettings settings,
      PmemCertificates.Prepared prepared,
      Context<PmemCSIDeployment> context) {
    var driver = new PmemModel(settings, facts.get());
    List<DriverComponent> components =
        parts.wanted(driver, prepared.certificates().isPresent(), context);
    var conditions = new ArrayList<>(prepared.conditions());
    conditions.add(
        ObservedStatus.condition(DRIVER_DEPLOYED, true, "Driver deployed successfully."));
    var found =
        new ObservedStatus(
            resource.getMetadata().getGeneration(),
            Optional.empty(),
            conditions,
            components,
            resource.getStatus().unpreparedNodes(),
            prepared.expires());
    return found.isReady(DriverComponent.NODE)
        ? found.with(components, parts.unprepared(resource, driver.names(), context))
        : found;
  }

  private Optional<DeploymentCondition> sharing(
      PmemCSIDeployment resource, Context<PmemCSIDeployment> context) {
    // before the look: what changes between look and answer must wake us, too
    watches.met(resource);
    Optional<DeploymentCondition> condition =
        NodeSharing.condition(
            resource,
            PmemEventSources.others(context, resource.getMetadata().getName()),
            PmemEventSources.nodes(context));
    if (condition.filter(found -> found.status().equals(ObservedStatus.FALSE)).isEmpty()) {
      watches.parted(resource);
    }
    return condition;
  }

  private static ObservedStatus failed(
      PmemCSIDeployment resource, PmemCertificates.Prepared prepared) {
    String reason = prepared.failure().orElseThrow();
    var conditions = new ArrayList<>(prepared.conditions());
    conditions.add(ObservedStatus.condition(DRIVER_DEPLOYED, false, reason));
    return ObservedStatus.failed(resource.getMetadata().getGeneration(), reason, conditions);
  }

  /** For what went wrong on the walk itself. */
  static ObservedStatus failed(
      PmemCSIDeployment resource, String reason, Context<PmemCSIDeployment> context) {
    return RunningComponents.asCached(failed(resource, reason), resource, context);
  }

  private static ObservedStatus failed(PmemCSIDeployment resource, String reason) {
    return ObservedStatus.failed(
        resource.getMetadata().getGeneration(),
        reason,
        List.of(ObservedStatus.condition(DRIVER_DEPLOYED, false, reason)));
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
}
