package io.pmemcsi.operator.kinds.template;

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
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.apply.LabelRetention;
import io.pmemcsi.operator.apply.OwnedKinds;
import io.pmemcsi.operator.apply.OwnershipLabels;
import io.pmemcsi.operator.apply.RefusedObjectException;
import io.pmemcsi.operator.controller.ClusterReader;
import io.pmemcsi.operator.controller.DriverKind;
import io.pmemcsi.operator.controller.KindTraits;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.deletion.DeletionGuard;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.rollout.draining.NodeUpdates;
import io.pmemcsi.operator.usage.UsageReader;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

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
    return TemplateDesiredState.of(TemplateDriver.of(resource, OperatorConfig.DEFAULT, assumed));
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

  @Override
  public boolean isManaged(CSIDriverDeployment resource) {
    return TemplateDecision.isManaged(resource);
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
        driverName(resource).stream()
            .flatMap(
                driver ->
                    new InstalledObjects(resource, cluster).drivers().endingFor(driver).stream())
            .flatMap(former -> guard.usage(resource, deletionPolicy(resource), former).stream())
            .toList());
  }

  @Override
  public TemplatePlan decide(CSIDriverDeployment resource, TemplateObservation observed) {
    return new TemplateDecision(resource, observed).plan();
  }

  @Override
  public TemplateRunning rollOut(
      CSIDriverDeployment resource,
      TemplatePlan plan,
      Optional<Problem> problem,
      ClusterReader<CSIDriverDeployment> cluster) {
    var id = ResourceID.fromResource(resource);
    waiting.record(id, plan.waitsFor());
    var rollout =
        new TemplateRollout(new InstalledObjects(resource, cluster), nodeUpdates.orElseThrow());
    if (problem.isPresent()) {
      return rollout.pause(problem.get());
    }
    TemplateRunning running = rollout.advance();
    if (TemplateDecision.isNew(resource)) {
      waiting.waitingFor(id).forEach(requeue);
    }
    return running;
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
  public TemplateStatus status() {
    return new TemplateStatus(nodeUpdates);
  }

  @Override
  public String describe(CSIDriverDeployment resource, RefusedObjectException refusal) {
    return "the API server refuses: "
        + (refusal.getStatus() == null ? refusal.getMessage() : refusal.getStatus().getMessage());
  }

  @Override
  public void forget(CSIDriverDeployment resource) {
    var id = ResourceID.fromResource(resource);
    waiting.record(id, Set.of());
    waiting.waitingFor(id).forEach(requeue);
  }
}
