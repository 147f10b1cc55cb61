package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.CustomResource;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.pmemcsi.api.SharedSpec;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.apply.LabelRetention;
import io.pmemcsi.operator.apply.OwnedKinds;
import io.pmemcsi.operator.apply.OwnershipLabels;
import io.pmemcsi.operator.controller.ClusterReader;
import io.pmemcsi.operator.controller.DriverStatus;
import io.pmemcsi.operator.controller.KindTraits;
import io.pmemcsi.operator.controller.Plan.Action;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.controller.Problem.Cause;
import io.pmemcsi.operator.controller.StatusMapper;
import io.pmemcsi.operator.controller.StatusUpdate;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import io.pmemcsi.operator.deletion.DeletionGuard;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.usage.UsageReader;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Watches, observes and reports the drivers of one kind of PMEM-CSI resources.
 *
 * @param <R> the kind
 */
public final class PmemDrivers<
        R extends CustomResource<? extends SharedSpec, PmemCSIDeploymentStatus>>
    implements DriverStatus<R, PmemCSIDeploymentStatus, PmemPlan<R>, RunningDriver> {

  public static final String FIELD_MANAGER = "pmem-csi-operator";

  private static final OwnershipLabels LABELS = new OwnershipLabels(PmemCSIDeployment.GROUP);

  private final PmemPeer.Type<R> type;
  private final KindTraits<R> traits;
  private final String namespace;
  private final Supplier<ClusterFacts> facts;
  private final DeletionGuard guard;
  private final Clock clock;
  private final PmemWatches<R> watches;
  private final RunningDriverReader running;
  private final Function<R, Optional<PmemNames>> names;
  private volatile Consumer<ResourceID> requeue = _ -> {};

  /**
   * The drivers in one cluster.
   *
   * @param namespace of the operator and of the drivers
   */
  public PmemDrivers(
      Description<R> kind,
      String namespace,
      Supplier<ClusterFacts> facts,
      UsageReader usage,
      Clock clock) {
    this.type = kind.type();
    this.traits =
        new KindTraits<>(
            type.type(),
            FIELD_MANAGER,
            List.of(HasMetadata.getFullResourceName(type.type()) + "/finalizer"),
            new OwnedKinds(kind.owned(), Set.of(namespace), LABELS),
            LabelRetention.KEEP,
            true);
    this.namespace = namespace;
    this.facts = facts;
    this.guard = new DeletionGuard(usage, PmemCSIDeployment.FORCE_DELETION_ANNOTATION);
    this.clock = clock;
    this.watches = new PmemWatches<>(type, namespace, LABELS, kind.tlsSecret());
    this.running = RunningDriverReader.overHttp(kind.controller(), clock);
    this.names = kind.names();
  }

  /**
   * How the kinds differ.
   *
   * @param owned the kinds of objects that are created
   * @param controller the workload of the controller
   * @param names empty for a resource whose name cannot be that of a driver: nothing was ever
   *     created for it
   * @param tlsSecret the name of the user's secret in a resource
   */
  public record Description<
      R extends CustomResource<? extends SharedSpec, PmemCSIDeploymentStatus>>(
      PmemPeer.Type<R> type,
      List<Class<? extends HasMetadata>> owned,
      ControllerWorkload controller,
      Function<R, Optional<PmemNames>> names,
      Function<R, Optional<String>> tlsSecret) {

    public Description {
      owned = List.copyOf(owned);
    }
  }

  KindTraits<R> traits() {
    return traits;
  }

  public DeletionGuard guard() {
    return guard;
  }

  public PmemWatches<R> watches() {
    return watches;
  }

  /** The name of the CSI driver as the resource has it, correct or not. */
  public String driverName(R resource) {
    return type.driverName().apply(resource);
  }

  List<EventSource<?, R>> eventSources(
      EventSourceContext<R> context, Consumer<ResourceID> trigger) {
    requeue = trigger;
    return watches.eventSources(context);
  }

  /**
   * Reads what the decision depends on.
   *
   * @param secrets with TLS material, by name
   */
  public DriverObservation observe(
      R resource, Map<String, Secret> secrets, ClusterReader<R> cluster) {
    return new DriverObservation(
        facts.get(),
        secrets,
        watches.peers(resource, cluster),
        watches.nodesExclusive(resource, cluster),
        clock.instant());
  }

  /** Whether another resource has the driver. */
  public Optional<Problem> conflict(R resource, DriverObservation observed) {
    return type.of(resource)
        .conflict(observed.peers())
        .map(conflict -> new Problem(Cause.CONFLICT, conflict));
  }

  /** Applies objects; those that the user's values may make wrong are tried first. */
  public Action apply(R resource, DesiredState desired) {
    return new Action.Apply(
        desired, object -> needsDryRun(resource) && RefusedFields.isBuiltFromSpec(object));
  }

  /** Whether nothing of the current generation is known to work. */
  private static boolean needsDryRun(CustomResource<?, PmemCSIDeploymentStatus> resource) {
    PmemCSIDeploymentStatus before = resource.getStatus();
    return !resource.getMetadata().getGeneration().equals(before.observedGeneration())
        || before.phaseOrNew().equals(PmemCSIDeploymentStatus.PHASE_FAILED);
  }

  /**
   * What runs after the objects were applied or could not be.
   *
   * @param hasController whether the driver has one
   */
  public RunningDriver running(
      R resource,
      PmemPlan<R> plan,
      boolean hasController,
      Optional<Problem> problem,
      ClusterReader<R> cluster) {
    return plan.driver().isPresent() && problem.filter(one -> !isTransient(one)).isEmpty()
        ? running.asDesired(
            plan.driver().get(),
            hasController,
            resource.getStatus(),
            cluster,
            () -> requeue(resource))
        : asFound(resource, cluster);
  }

  /** What runs, whatever is desired. */
  private RunningDriver asFound(R resource, ClusterReader<R> cluster) {
    PmemCSIDeploymentStatus before = resource.getStatus();
    return names
        .apply(resource)
        .map(
            found ->
                running.despiteFailure(found, namespace, before, cluster, () -> requeue(resource)))
        .orElseGet(() -> unobserved(resource));
  }

  private void requeue(R resource) {
    requeue.accept(ResourceID.fromResource(resource));
  }

  /** Whether the objects are as desired, or will be without a change of the resource. */
  private static boolean isTransient(Problem problem) {
    return problem.cause() == Cause.WAITING || problem.cause() == Cause.CONTENDED;
  }

  @Override
  public StatusMapper<PmemCSIDeploymentStatus> mapper() {
    return new PmemStatusMapper();
  }

  @Override
  public StatusUpdate<PmemCSIDeploymentStatus> deployed(
      R resource,
      PmemPlan<R> plan,
      RunningDriver driver,
      Optional<Problem> problem,
      Optional<Hold> hold) {
    ObservedStatus running =
        ObservedStatus.of(
            resource.getMetadata().getGeneration(),
            plan.conditions(),
            plan.certificates().expires(),
            driver,
            problem);
    ObservedStatus status =
        plan.lostNodes().map(lost -> running.withLost(lost, driver.notReleased())).orElse(running);
    ObservedStatus complete =
        plan.driver().flatMap(PmemModel::snapshotClassesMissing).map(status::with).orElse(status);
    return hold.map(complete::held).orElse(complete);
  }

  /** Nothing is written, but the status shows what runs. */
  @Override
  public StatusUpdate<PmemCSIDeploymentStatus> unmanaged(R resource, ClusterReader<R> cluster) {
    return ObservedStatus.unmanaged(
        resource.getMetadata().getGeneration(),
        Optional.ofNullable(resource.getStatus().certificateExpires()),
        watches.nodesExclusive(resource, cluster),
        asFound(resource, cluster));
  }

  @Override
  public StatusUpdate<PmemCSIDeploymentStatus> removing(R resource, Optional<Problem> problem) {
    return problem
        .<StatusUpdate<PmemCSIDeploymentStatus>>map(
            delay -> status(resource, delay, unobserved(resource)).removing())
        .orElse((previous, _) -> previous);
  }

  @Override
  public StatusUpdate<PmemCSIDeploymentStatus> failed(
      R resource, Problem problem, ClusterReader<R> cluster) {
    return status(
        resource,
        problem,
        names
            .apply(resource)
            .map(found -> running.asCached(found, resource.getStatus(), cluster))
            .orElseGet(() -> unobserved(resource)));
  }

  private RunningDriver unobserved(R resource) {
    return new RunningDriver(List.of(), resource.getStatus().unpreparedNodes());
  }

  private ObservedStatus status(R resource, Problem problem, RunningDriver driver) {
    return ObservedStatus.of(
        resource.getMetadata().getGeneration(),
        List.of(),
        Optional.ofNullable(resource.getStatus().certificateExpires()),
        driver,
        Optional.of(problem));
  }

  @Override
  public Optional<Instant> problemSince(PmemCSIDeploymentStatus status) {
    return status
        .condition(DeploymentCondition.DRIVER_DEPLOYED)
        .filter(condition -> condition.status().equals("False"))
        .map(DeploymentCondition::lastUpdateTime);
  }
}
