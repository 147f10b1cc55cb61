package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.CSIDriverBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentChecks;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.api.pmem.TLSMaterial;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.apply.LabelRetention;
import io.pmemcsi.operator.apply.OwnedKinds;
import io.pmemcsi.operator.apply.OwnershipLabels;
import io.pmemcsi.operator.apply.RefusedObjectException;
import io.pmemcsi.operator.controller.ClusterReader;
import io.pmemcsi.operator.controller.DriverKind;
import io.pmemcsi.operator.controller.KindTraits;
import io.pmemcsi.operator.controller.Plan.Action;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.controller.Problem.Cause;
import io.pmemcsi.operator.controller.RequeuePeriods;
import io.pmemcsi.operator.controller.StatusMapper;
import io.pmemcsi.operator.controller.StatusUpdate;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import io.pmemcsi.operator.deletion.DeletionGuard;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.pmemdriver.ControllerCertificates;
import io.pmemcsi.operator.pmemdriver.ControllerServices;
import io.pmemcsi.operator.pmemdriver.ObservedStatus;
import io.pmemcsi.operator.pmemdriver.PmemCertificates;
import io.pmemcsi.operator.pmemdriver.PmemModel;
import io.pmemcsi.operator.pmemdriver.PmemNames;
import io.pmemcsi.operator.pmemdriver.PmemStatusMapper;
import io.pmemcsi.operator.pmemdriver.PmemWatches;
import io.pmemcsi.operator.pmemdriver.RunningDriver;
import io.pmemcsi.operator.pmemdriver.RunningDriverReader;
import io.pmemcsi.operator.usage.UsageReader;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** PmemCSIDeployment: PMEM-CSI with provisioning on every node. */
public final class PmemKind
    implements DriverKind<
        PmemCSIDeployment, PmemCSIDeploymentStatus, PmemObservation, PmemPlan, RunningDriver> {

  public static final String FIELD_MANAGER = "pmem-csi-operator";

  private static final OwnershipLabels LABELS = new OwnershipLabels(PmemCSIDeployment.GROUP);

  private static final List<Class<? extends HasMetadata>> OWNED =
      List.of(
          CSIDriver.class,
          ServiceAccount.class,
          Role.class,
          RoleBinding.class,
          ClusterRole.class,
          ClusterRoleBinding.class,
          Secret.class,
          Service.class,
          Deployment.class,
          DaemonSet.class,
          MutatingWebhookConfiguration.class);

  private final KindTraits<PmemCSIDeployment> traits;
  private final String namespace;
  private final Supplier<ClusterFacts> facts;
  private final DeletionGuard guard;
  private final Clock clock;
  private final PmemWatches<PmemCSIDeployment> watches;
  private final RunningDriverReader running;
  private volatile Consumer<ResourceID> requeue = _ -> {};

  /**
   * The kind in one cluster.
   *
   * @param namespace of the operator and of the drivers
   */
  public PmemKind(String namespace, Supplier<ClusterFacts> facts, UsageReader usage, Clock clock) {
    this.traits =
        new KindTraits<>(
            PmemCSIDeployment.class,
            FIELD_MANAGER,
            List.of(HasMetadata.getFullResourceName(PmemCSIDeployment.class) + "/finalizer"),
            new OwnedKinds(OWNED, Set.of(namespace), LABELS),
            LabelRetention.KEEP,
            true);
    this.namespace = namespace;
    this.facts = facts;
    this.guard = new DeletionGuard(usage, PmemCSIDeployment.FORCE_DELETION_ANNOTATION);
    this.clock = clock;
    this.watches =
        new PmemWatches<>(
            PmemCSIDeployment.class,
            namespace,
            LABELS,
            resource -> Written.text(resource.getSpec().controllerTLSSecret()));
    this.running = RunningDriverReader.overHttp(clock);
  }

  @Override
  public KindTraits<PmemCSIDeployment> traits() {
    return traits;
  }

  @Override
  public DesiredState render(PmemCSIDeployment resource, ClusterFacts assumed) {
    PmemSettings settings = PmemSettings.of(resource);
    PmemModel driver = model(settings, assumed);
    return PmemDesiredState.of(
        driver,
        ControllerCertificates.of(settings.tls(), driver.names()),
        certificates(settings, driver, Instant.EPOCH).inlineSecrets(),
        true);
  }

  @Override
  public PmemCSIDeployment withEveryFeature() {
    return new KubernetesSerialization()
        .unmarshal(
            "metadata: {name: any}\nspec: {controllerTLS: {managed: true}}",
            PmemCSIDeployment.class);
  }

  @Override
  public Optional<String> driverName(PmemCSIDeployment resource) {
    return Optional.of(resource.getMetadata().getName());
  }

  @Override
  public List<EventSource<?, PmemCSIDeployment>> eventSources(
      EventSourceContext<PmemCSIDeployment> context, Consumer<ResourceID> trigger) {
    requeue = trigger;
    return watches.eventSources(context);
  }

  @Override
  public DeletionGuard guard() {
    return guard;
  }

  @Override
  public @Nullable String deletionPolicy(PmemCSIDeployment resource) {
    return resource.getSpec().deletionPolicy();
  }

  @Override
  public HasMetadata anchor(PmemCSIDeployment resource) {
    return new CSIDriverBuilder()
        .withNewMetadata()
        .withName(resource.getMetadata().getName())
        .endMetadata()
        .build();
  }

  @Override
  public Collection<String> installedDrivers(
      PmemCSIDeployment resource, ClusterReader<PmemCSIDeployment> cluster) {
    return List.of(resource.getMetadata().getName());
  }

  @Override
  public PmemObservation observe(
      PmemCSIDeployment resource, ClusterReader<PmemCSIDeployment> cluster) {
    var secrets = new HashMap<String, Secret>();
    Optional<PmemNames> names = names(resource);
    names
        .map(found -> new PmemSettings(found.driver(), resource.getSpec()).tls())
        .ifPresent(material -> secrets(material, names.get(), cluster, secrets));
    Optional<MutatingWebhookConfiguration> webhook =
        names.flatMap(
            found ->
                cluster.owned(MutatingWebhookConfiguration.class, found.webhookConfiguration()));
    return new PmemObservation(
        facts.get(),
        secrets,
        names
            .filter(
                found ->
                    ControllerServices.hasAnswered(
                        cluster.owned(Deployment.class, found.controller()), webhook))
            .isPresent(),
        webhook,
        clock.instant());
  }

  private void secrets(
      TLSMaterial material,
      PmemNames names,
      ClusterReader<PmemCSIDeployment> cluster,
      Map<String, Secret> found) {
    switch (material) {
      case TLSMaterial.None() -> {}
      case TLSMaterial.Inline _ -> {}
      case TLSMaterial.NamedSecret(String name) ->
          watches.secret(name, cluster).ifPresent(secret -> found.put(name, secret));
      case TLSMaterial.Managed _ -> {
        for (String name : List.of(names.authoritySecret(), names.controllerSecret())) {
          watches.ownSecret(name, cluster).ifPresent(secret -> found.put(name, secret));
        }
      }
    }
  }

  @Override
  public PmemPlan decide(PmemCSIDeployment resource, PmemObservation observed) {
    List<Violation> violations = PmemCSIDeploymentChecks.check(resource);
    if (!violations.isEmpty()) {
      return PmemPlan.invalid(
          block(
              Cause.INVALID,
              violations.stream().map(Violation::message).collect(Collectors.joining("; "))));
    }
    try {
      PmemSettings settings = PmemSettings.of(resource);
      PmemModel driver = model(settings, observed.facts());
      PmemCertificates.Prepared certificates =
          certificates(settings, driver, observed.now()).prepare(observed::secret);
      return new PmemPlan(
          certificates
              .failure()
              .<Action>map(
                  failure ->
                      new Action.Block(
                          new Problem(Cause.CERTIFICATES, failure),
                          Optional.empty(),
                          ControllerServices.relaxed(driver, settings.tls(), observed.webhook())))
              .orElseGet(
                  () ->
                      new Action.Apply(
                          PmemDesiredState.of(
                              driver,
                              certificates.certificates(),
                              certificates.secrets(),
                              observed.webhookHasAnswered()),
                          object -> isUnproven(resource) && RefusedFields.dependOn(object))),
          Optional.of(driver),
          certificates,
          certificates.due().map(due -> RequeuePeriods.DEFAULT.until(due, observed.now())));
    } catch (IllegalArgumentException e) {
      return PmemPlan.invalid(block(Cause.INVALID, String.valueOf(e.getMessage())));
    }
  }

  private static Action.Block block(Cause cause, String message) {
    return new Action.Block(new Problem(cause, message));
  }

  @Override
  public RunningDriver rollOut(
      PmemCSIDeployment resource,
      PmemPlan plan,
      Optional<Problem> problem,
      ClusterReader<PmemCSIDeployment> cluster) {
    Optional<DeploymentCondition> exclusive = watches.nodesExclusive(resource, cluster);
    PmemCSIDeploymentStatus before = resource.getStatus();
    Runnable again = () -> requeue.accept(ResourceID.fromResource(resource));
    if (plan.driver().isPresent() && problem.filter(one -> !isTransient(one)).isEmpty()) {
      return running.asDesired(
          plan.driver().get(),
          plan.certificates().certificates().isPresent(),
          before,
          exclusive,
          cluster,
          again);
    }
    return names(resource)
        .map(names -> running.despiteFailure(names, namespace, before, exclusive, cluster, again))
        .orElseGet(() -> new RunningDriver(List.of(), before.unpreparedNodes(), exclusive));
  }

  /** Whether the objects are as desired, or will be without a change of the resource. */
  private static boolean isTransient(Problem problem) {
    return problem.cause() == Cause.WAITING || problem.cause() == Cause.CONTENDED;
  }

  @Override
  public Optional<Duration> requeueAfter(PmemPlan plan, RunningDriver driver) {
    return driver.requeueAfter().or(plan::requeueAfter);
  }

  @Override
  public StatusMapper<PmemCSIDeploymentStatus> mapper() {
    return new PmemStatusMapper();
  }

  @Override
  public StatusUpdate<PmemCSIDeploymentStatus> deployed(
      PmemCSIDeployment resource,
      PmemPlan plan,
      RunningDriver driver,
      Optional<Problem> problem,
      Optional<Hold> hold) {
    ObservedStatus status =
        ObservedStatus.of(
            resource.getMetadata().getGeneration(),
            plan.certificates().conditions(),
            plan.certificates().expires(),
            driver,
            problem);
    return hold.map(status::held).orElse(status);
  }

  @Override
  public StatusUpdate<PmemCSIDeploymentStatus> unmanaged(
      PmemCSIDeployment resource, ClusterReader<PmemCSIDeployment> cluster) {
    throw new IllegalStateException("every PmemCSIDeployment is managed");
  }

  @Override
  public StatusUpdate<PmemCSIDeploymentStatus> removing(
      PmemCSIDeployment resource, Optional<Problem> problem) {
    return problem
        .<StatusUpdate<PmemCSIDeploymentStatus>>map(
            delay ->
                status(
                    resource,
                    delay,
                    new RunningDriver(
                        List.of(), resource.getStatus().unpreparedNodes(), Optional.empty())))
        .orElse((previous, _) -> previous);
  }

  @Override
  public StatusUpdate<PmemCSIDeploymentStatus> failed(
      PmemCSIDeployment resource, Problem problem, ClusterReader<PmemCSIDeployment> cluster) {
    return status(
        resource,
        problem,
        names(resource)
            .map(names -> RunningDriverReader.asCached(names, resource.getStatus(), cluster))
            .orElseGet(
                () ->
                    new RunningDriver(
                        List.of(), resource.getStatus().unpreparedNodes(), Optional.empty())));
  }

  private static ObservedStatus status(
      PmemCSIDeployment resource, Problem problem, RunningDriver driver) {
    return ObservedStatus.of(
        resource.getMetadata().getGeneration(),
        List.of(),
        Optional.ofNullable(resource.getStatus().certificateExpires()),
        driver,
        Optional.of(problem));
  }

  @Override
  public String describe(PmemCSIDeployment resource, RefusedObjectException refusal) {
    return new RefusedFields(resource.getSpec()).describe(refusal);
  }

  @Override
  public Optional<Instant> problemSince(PmemCSIDeploymentStatus status) {
    return status
        .condition(DeploymentCondition.DRIVER_DEPLOYED)
        .filter(condition -> condition.status().equals("False"))
        .map(DeploymentCondition::lastUpdateTime);
  }

  /** Whether nothing of the current generation is known to work. */
  private static boolean isUnproven(PmemCSIDeployment resource) {
    PmemCSIDeploymentStatus before = resource.getStatus();
    return !resource.getMetadata().getGeneration().equals(before.observedGeneration())
        || before.phaseOrNew().equals(PmemCSIDeploymentStatus.PHASE_FAILED);
  }

  @Override
  public void forget(PmemCSIDeployment resource) {
    watches.forget(resource);
  }

  /** Nothing was ever created for a resource that has none. */
  private static Optional<PmemNames> names(PmemCSIDeployment resource) {
    String name = resource.getMetadata().getName();
    return DriverName.isAllowed(name)
        ? Optional.of(new PmemNames(new DriverName(name)))
        : Optional.empty();
  }

  private static PmemCertificates certificates(
      PmemSettings settings, PmemModel driver, Instant now) {
    var spec = settings.spec();
    return new PmemCertificates(
        driver,
        settings.tls(),
        spec.nodeControllerCert() == null || spec.nodeControllerKey() == null
            ? Optional.empty()
            : Optional.of(
                new PmemCertificates.NodeController(
                    spec.nodeControllerCert(), spec.nodeControllerKey())),
        now);
  }

  static PmemModel model(PmemSettings settings, ClusterFacts facts) {
    return new PmemModel(
        new PmemNames(settings.driver()),
        settings,
        new PmemModel.Sizing(
            Written.number(settings.spec().controllerReplicas())
                .or(() -> Written.number(settings.spec().controllReplicas())),
            settings.maxUnavailable(),
            settings.controllerDriverResources(),
            settings.nodeDriverResources(),
            settings.provisionerResources(),
            settings.nodeRegistrarResources()),
        facts);
  }
}
