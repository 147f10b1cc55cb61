package io.pmemcsi.operator.kinds.template;

import static io.pmemcsi.api.template.CSIDriverDeploymentStatus.STATE_UNMANAGED;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentChecks;
import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.api.template.TemplateSettings;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.apply.LabelRetention;
import io.pmemcsi.operator.apply.Outcome;
import io.pmemcsi.operator.apply.OwnedKinds;
import io.pmemcsi.operator.apply.OwnershipLabels;
import io.pmemcsi.operator.apply.RefusedObjectException;
import io.pmemcsi.operator.controller.ClusterReader;
import io.pmemcsi.operator.controller.DriverKind;
import io.pmemcsi.operator.controller.EventMessage;
import io.pmemcsi.operator.controller.KindTraits;
import io.pmemcsi.operator.controller.Plan.Action;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.controller.Problem.Cause;
import io.pmemcsi.operator.controller.RequeuePeriods;
import io.pmemcsi.operator.controller.StatusMapper;
import io.pmemcsi.operator.controller.StatusUpdate;
import io.pmemcsi.operator.deletion.DeletionDecision;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import io.pmemcsi.operator.deletion.DeletionGuard;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.kinds.template.TemplateObservation.DriverInUse;
import io.pmemcsi.operator.rollout.draining.NodeUpdatePlan;
import io.pmemcsi.operator.rollout.draining.NodeUpdates;
import io.pmemcsi.operator.rollout.draining.UpdateRequest;
import io.pmemcsi.operator.usage.UsageReader;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** CSIDriverDeployment: any CSI driver, from the user's pod templates. */
public final class TemplateKind
    implements DriverKind<
        CSIDriverDeployment,
        CSIDriverDeploymentStatus,
        TemplateObservation,
        TemplatePlan,
        TemplateRunning> {

  public static final String FIELD_MANAGER = "csi-driver-operator";

  static final OwnershipLabels LABELS = new OwnershipLabels(CSIDriverDeployment.GROUP);

  private static final Logger LOG = LoggerFactory.getLogger(TemplateKind.class);

  private static final List<Class<? extends HasMetadata>> OWNED =
      List.of(
          CSIDriver.class,
          ServiceAccount.class,
          Role.class,
          RoleBinding.class,
          ClusterRole.class,
          ClusterRoleBinding.class,
          StorageClass.class,
          Deployment.class,
          DaemonSet.class);

  private static final KindTraits<CSIDriverDeployment> TRAITS =
      new KindTraits<>(
          CSIDriverDeployment.class,
          FIELD_MANAGER,
          List.of(CSIDriverDeployment.FINALIZER, CSIDriverDeployment.FINALIZER + "/driver"),
          new OwnedKinds(OWNED, Set.of(), LABELS, true),
          LabelRetention.DROP,
          false);

  private static final String EVERY_FEATURE =
      """
      metadata: {name: any, namespace: any}
      spec:
        driverName: any
        driverSocket: /csi/csi.sock
        driverPerNodeTemplate:
          spec:
            containers:
              - {name: any, image: any, securityContext: {privileged: true}}
        driverControllerTemplate:
          spec: {containers: [{name: any, image: any}]}
        csiDriver: {storageCapacity: true}
        sidecars: {resizer: {enabled: true}, snapshotter: {enabled: true}}
      """;

  private final Supplier<ClusterFacts> facts;
  private final Supplier<OperatorConfig> config;
  private final DeletionGuard guard;
  private final Optional<NodeUpdates> nodeUpdates;
  private final TemplateWatches watches;
  private final WaitingResources waiting = new WaitingResources();
  private volatile Consumer<ResourceID> requeue = _ -> {};

  /**
   * The kind in one cluster.
   *
   * @param nodeUpdates empty where nothing is rolled out, as in a preview
   * @param others the other kinds, whose driver names may conflict
   */
  public TemplateKind(
      Supplier<ClusterFacts> facts,
      Supplier<OperatorConfig> config,
      UsageReader usage,
      Optional<NodeUpdates> nodeUpdates,
      List<DriverKind<?, ?, ?, ?, ?>> others) {
    this.facts = facts;
    this.config = config;
    this.guard = new DeletionGuard(usage, CSIDriverDeployment.FORCE_DELETION_ANNOTATION);
    this.nodeUpdates = nodeUpdates;
    this.watches =
        new TemplateWatches(
            others.stream().<TemplateWatches.OtherKind<?>>map(TemplateKind::other).toList());
  }

  private static <R extends CustomResource<?, S>, S> TemplateWatches.OtherKind<R> other(
      DriverKind<R, S, ?, ?, ?> kind) {
    return new TemplateWatches.OtherKind<>(kind.traits().type(), kind::driverName);
  }

  @Override
  public KindTraits<CSIDriverDeployment> traits() {
    return TRAITS;
  }

  /** With the defaults of an operator, in its namespace where the resource names none. */
  @Override
  public DesiredState render(CSIDriverDeployment resource, ClusterFacts assumed) {
    return TemplateDesiredState.of(
        driver(resource, TemplateSettings.of(resource), OperatorConfig.DEFAULT, assumed));
  }

  @Override
  public CSIDriverDeployment withEveryFeature() {
    return new KubernetesSerialization().unmarshal(EVERY_FEATURE, CSIDriverDeployment.class);
  }

  @Override
  public Optional<String> driverName(CSIDriverDeployment resource) {
    return Written.text(resource.getSpec().driverName());
  }

  @Override
  public List<EventSource<?, CSIDriverDeployment>> eventSources(
      EventSourceContext<CSIDriverDeployment> context, Consumer<ResourceID> trigger) {
    requeue = trigger;
    return watches.eventSources(context);
  }

  /** Asked before anything is checked: an invalid resource can be set aside, too. */
  @Override
  public boolean isManaged(CSIDriverDeployment resource) {
    return !STATE_UNMANAGED.equals(resource.getSpec().managementState());
  }

  @Override
  public DeletionGuard guard() {
    return guard;
  }

  @Override
  public @Nullable String deletionPolicy(CSIDriverDeployment resource) {
    return resource.getSpec().deletionPolicy();
  }

  @Override
  public HasMetadata anchor(CSIDriverDeployment resource) {
    return new DaemonSetBuilder()
        .withNewMetadata()
        .withName(TemplateDriver.nodeWorkload(resource.getMetadata().getName()))
        .withNamespace(resource.getMetadata().getNamespace())
        .endMetadata()
        .build();
  }

  @Override
  public Collection<String> installedDrivers(
      CSIDriverDeployment resource, ClusterReader<CSIDriverDeployment> cluster) {
    return new InstalledObjects(resource, cluster)
        .drivers()
        .endingWith(
            resource.getSpec().driverName(),
            cluster.client().storage().v1().csiDrivers().list().getItems(),
            resource.getMetadata().getUid());
  }

  @Override
  public TemplateObservation observe(
      CSIDriverDeployment resource, ClusterReader<CSIDriverDeployment> cluster) {
    OperatorConfig current = config.get();
    var names = ExclusiveNames.of(resource, current);
    List<CSIDriverDeployment> peers = TemplateWatches.peers(names, cluster);
    return new TemplateObservation(
        facts.get(),
        current,
        peers,
        peers.stream()
            .map(ResourceID::fromResource)
            .filter(waiting::isWaiting)
            .collect(Collectors.toSet()),
        watches.sameDriver(names.driverName(), cluster),
        NameOwners.observe(
            names, peers.stream().map(peer -> ExclusiveNames.of(peer, current)).toList(), cluster),
        driverName(resource).flatMap(driver -> driverInUse(resource, driver, cluster)));
  }

  /** Another driver name ends the driver before, which volumes may need. */
  private Optional<DriverInUse> driverInUse(
      CSIDriverDeployment resource, String driver, ClusterReader<CSIDriverDeployment> cluster) {
    return new InstalledObjects(resource, cluster)
        .drivers().endingFor(driver).stream()
            .flatMap(
                former ->
                    guard.decide(resource, deletionPolicy(resource), former)
                            instanceof DeletionDecision.Hold hold
                        ? Stream.of(new DriverInUse(former, hold))
                        : Stream.empty())
            .findFirst();
  }

  @Override
  public TemplatePlan decide(CSIDriverDeployment resource, TemplateObservation observed) {
    List<Violation> violations = CSIDriverDeploymentChecks.check(resource);
    if (!violations.isEmpty()) {
      return invalid(violations.stream().map(Violation::message).collect(Collectors.joining("\n")));
    }
    TemplateDriver driver;
    DesiredState desired;
    try {
      driver = driver(resource, TemplateSettings.of(resource), observed.config(), observed.facts());
      desired = TemplateDesiredState.of(driver);
    } catch (IllegalArgumentException e) {
      return invalid(String.valueOf(e.getMessage()));
    }
    var conflicts = new Conflicts(observed.config(), observed.owners());
    List<Conflicts.Conflict> lost = conflicts.of(resource, observed.peers(), observed.sameDriver());
    return new TemplatePlan(
        lost.isEmpty()
            ? action(resource, driver, desired, observed)
            : new Action.Block(
                new Problem(
                    Cause.CONFLICT,
                    lost.stream()
                        .map(Conflicts.Conflict::message)
                        .collect(Collectors.joining("\n")))),
        triggers(resource, conflicts, observed),
        lost.stream().map(Conflicts.Conflict::winner).collect(Collectors.toSet()));
  }

  private static TemplatePlan invalid(String message) {
    return TemplatePlan.of(new Action.Block(new Problem(Cause.INVALID, message)));
  }

  private static Action action(
      CSIDriverDeployment resource,
      TemplateDriver driver,
      DesiredState desired,
      TemplateObservation observed) {
    return observed
        .driverInUse()
        .<Action>map(
            former ->
                new Action.Block(
                    new Problem(
                        Cause.DRIVER_IN_USE,
                        "driverName cannot change to %s yet. %s"
                            .formatted(driver.driverName(), former.hold().message()),
                        Optional.of(former.hold().requeueAfter())),
                    // without it, kubelets and sidecars would treat the former driver wrongly
                    Optional.of(new DriverObject(driver).csiDriver(former.name()))))
        .orElseGet(
            () -> new Action.Apply(desired, object -> isNew(resource) && isFromTemplate(object)));
  }

  private List<ResourceID> triggers(
      CSIDriverDeployment resource, Conflicts conflicts, TemplateObservation observed) {
    return conflicts.conflictingPeers(resource, observed.peers()).stream()
        .filter(peer -> !peer.isMarkedForDeletion() && isManaged(peer))
        .map(ResourceID::fromResource)
        .filter(peer -> !observed.waitingPeers().contains(peer))
        .toList();
  }

  @Override
  public TemplateRunning rollOut(
      CSIDriverDeployment resource,
      TemplatePlan plan,
      Optional<Problem> problem,
      ClusterReader<CSIDriverDeployment> cluster) {
    var id = ResourceID.fromResource(resource);
    waiting.record(id, plan.waitsFor());
    var objects = new InstalledObjects(resource, cluster);
    if (problem.isPresent()) {
      return pause(objects, problem.get());
    }
    NodeUpdates updates = nodeUpdates.orElseThrow();
    Optional<NodeUpdates.Progress> progress =
        objects
            .update()
            .map(resource.isMarkedForDeletion() ? updates::planRelease : updates::plan)
            .map(updates::execute);
    if (isNew(resource)) {
      waiting.waitingFor(id).forEach(requeue);
    }
    return TemplateRunning.of(objects.availability(resource.getSpec().hasController()), progress);
  }

  /** Nodes in progress are completed; an error there must not hide the problem. */
  private TemplateRunning pause(InstalledObjects objects, Problem problem) {
    CSIDriverDeployment resource = objects.resource();
    NodeUpdates updates = nodeUpdates.orElseThrow();
    String why = TemplateReason.of(problem.cause()).text() + ": " + problem.message();
    Function<UpdateRequest, NodeUpdatePlan> plan =
        resource.isMarkedForDeletion()
            ? updates::planRelease
            : update -> updates.planPaused(update, why);
    try {
      if (objects.daemonSet().isEmpty()) {
        updates.release(resource);
      }
      return TemplateRunning.of(
          objects.availability(), objects.update().map(plan).map(updates::execute));
    } catch (KubernetesClientException e) {
      LOG.atWarn()
          .addKeyValue("namespace", resource.getMetadata().getNamespace())
          .addKeyValue("name", resource.getMetadata().getName())
          .setCause(e)
          .log("The update of the nodes cannot continue now and is retried.");
      // no event would trigger it, and a node may be cordoned
      return new TemplateRunning(
          objects.availability(), Optional.empty(), Optional.of(RequeuePeriods.DEFAULT.soon()));
    }
  }

  @Override
  public void endRollout(CSIDriverDeployment resource) {
    nodeUpdates.ifPresent(updates -> updates.release(resource));
  }

  @Override
  public Optional<Duration> requeueAfter(TemplatePlan plan, TemplateRunning running) {
    return running.requeueAfter();
  }

  @Override
  public StatusMapper<CSIDriverDeploymentStatus> mapper() {
    return new TemplateStatusMapper();
  }

  @Override
  public StatusUpdate<CSIDriverDeploymentStatus> deployed(
      CSIDriverDeployment resource,
      TemplatePlan plan,
      TemplateRunning running,
      Optional<Problem> problem,
      Optional<Hold> hold) {
    long generation = resource.getMetadata().getGeneration();
    TemplateObservedStatus status =
        problem
            .map(one -> TemplateObservedStatus.failed(generation, running, one))
            .orElseGet(() -> TemplateObservedStatus.synced(generation, running));
    return hold.map(status::held).orElse(status);
  }

  @Override
  public StatusUpdate<CSIDriverDeploymentStatus> unmanaged(
      CSIDriverDeployment resource, ClusterReader<CSIDriverDeployment> cluster) {
    var objects = new InstalledObjects(resource, cluster);
    return TemplateObservedStatus.unmanaged(
        resource.getMetadata().getGeneration(),
        new TemplateRunning(
            objects.availability(resource.getSpec().hasController()),
            nodeUpdates.flatMap(
                updates -> objects.update().map(updates::planRelease).map(NodeUpdatePlan::status)),
            Optional.empty()));
  }

  @Override
  public StatusUpdate<CSIDriverDeploymentStatus> removing(
      CSIDriverDeployment resource, Optional<Problem> problem) {
    return TemplateObservedStatus.removing(resource.getMetadata().getGeneration(), problem);
  }

  @Override
  public StatusUpdate<CSIDriverDeploymentStatus> failed(
      CSIDriverDeployment resource, Problem problem, ClusterReader<CSIDriverDeployment> cluster) {
    TemplateObservedStatus status =
        TemplateObservedStatus.failed(
            resource.getMetadata().getGeneration(),
            TemplateRunning.of(
                new InstalledObjects(resource, cluster).availability(), Optional.empty()),
            problem);
    return resource.isMarkedForDeletion() ? status.inDeletion() : status;
  }

  @Override
  public List<EventMessage> events(Outcome outcome) {
    return outcome.recreated().stream().map(TemplateEventMessages::recreated).toList();
  }

  @Override
  public String describe(CSIDriverDeployment resource, RefusedObjectException refusal) {
    return "the API server refuses: "
        + (refusal.getStatus() == null ? refusal.getMessage() : refusal.getStatus().getMessage());
  }

  @Override
  public Optional<Instant> problemSince(CSIDriverDeploymentStatus status) {
    return status
        .condition(TemplateCondition.SYNC_SUCCESSFUL.type())
        .filter(TemplateCondition::isFalse)
        .map(DriverCondition::lastTransitionTime);
  }

  @Override
  public void forget(CSIDriverDeployment resource) {
    var id = ResourceID.fromResource(resource);
    waiting.record(id, Set.of());
    waiting.waitingFor(id).forEach(requeue);
  }

  /** Whether this generation has not been deployed yet. */
  private static boolean isNew(CSIDriverDeployment resource) {
    return !resource
        .getMetadata()
        .getGeneration()
        .equals(resource.getStatus().observedGeneration());
  }

  /** The server validates pod templates only in these. */
  private static boolean isFromTemplate(HasMetadata object) {
    return object instanceof DaemonSet || object instanceof Deployment;
  }

  private static TemplateDriver driver(
      CSIDriverDeployment resource,
      TemplateSettings settings,
      OperatorConfig config,
      ClusterFacts facts) {
    String namespace = resource.getMetadata().getNamespace();
    return new TemplateDriver(
        namespace == null ? facts.namespace() : namespace,
        resource.getMetadata().getName(),
        settings,
        config,
        facts);
  }
}
