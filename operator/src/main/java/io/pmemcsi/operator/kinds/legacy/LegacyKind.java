package io.pmemcsi.operator.kinds.legacy;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.pmemcsi.api.legacy.LegacyDeployment;
import io.pmemcsi.api.legacy.LegacyDeploymentChecks;
import io.pmemcsi.api.legacy.LegacySettings;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.apply.RefusedObjectException;
import io.pmemcsi.operator.controller.ClusterReader;
import io.pmemcsi.operator.controller.Plan.Action;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.controller.Problem.Cause;
import io.pmemcsi.operator.deletion.DeletionGuard;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.pmemdriver.CentralCertificates;
import io.pmemcsi.operator.pmemdriver.ControllerWorkload;
import io.pmemcsi.operator.pmemdriver.DriverObservation;
import io.pmemcsi.operator.pmemdriver.LostNodes;
import io.pmemcsi.operator.pmemdriver.LostNodesReader;
import io.pmemcsi.operator.pmemdriver.PmemDriverKind;
import io.pmemcsi.operator.pmemdriver.PmemDrivers;
import io.pmemcsi.operator.pmemdriver.PmemModel;
import io.pmemcsi.operator.pmemdriver.PmemNames;
import io.pmemcsi.operator.pmemdriver.PmemPeer;
import io.pmemcsi.operator.pmemdriver.PmemPlan;
import io.pmemcsi.operator.pmemdriver.RefusedFields;
import io.pmemcsi.operator.pmemdriver.RunningDriver;
import io.pmemcsi.operator.usage.UsageReader;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Deployment: PMEM-CSI with a central controller. */
public final class LegacyKind implements PmemDriverKind<LegacyDeployment, LegacyObservation> {

  private static final List<Class<? extends HasMetadata>> OWNED =
      List.of(
          CSIDriver.class,
          ServiceAccount.class,
          Role.class,
          RoleBinding.class,
          ClusterRole.class,
          ClusterRoleBinding.class,
          NetworkPolicy.class,
          Secret.class,
          Service.class,
          StatefulSet.class,
          DaemonSet.class);

  private final PmemDrivers<LegacyDeployment> drivers;
  private final LostNodesReader<LegacyDeployment> lostNodes;

  /**
   * The kind in one cluster.
   *
   * @param namespace of the operator and of the drivers
   */
  public LegacyKind(
      String namespace, Supplier<ClusterFacts> facts, UsageReader usage, Clock clock) {
    this.drivers =
        new PmemDrivers<>(
            new PmemDrivers.Description<>(
                PmemPeer.Type.V1ALPHA1,
                OWNED,
                ControllerWorkload.STATEFUL_SET,
                LegacyKind::names,
                _ -> Optional.empty()),
            namespace,
            facts,
            usage,
            clock);
    this.lostNodes = new LostNodesReader<>(drivers.watches(), clock);
  }

  @Override
  public PmemDrivers<LegacyDeployment> drivers() {
    return drivers;
  }

  @Override
  public DesiredState render(LegacyDeployment resource, ClusterFacts assumed) {
    LegacySettings settings = LegacySettings.of(resource);
    PmemModel driver = model(settings, assumed);
    return LegacyDesiredState.of(
        driver, certificates(settings, driver, Instant.EPOCH).givenSecrets());
  }

  @Override
  public LegacyDeployment withEveryFeature() {
    var resource = new LegacyDeployment();
    resource.getMetadata().setName("any");
    return resource;
  }

  private static String driver(LegacyDeployment resource) {
    return PmemPeer.Type.V1ALPHA1.driverName().apply(resource);
  }

  /** The present one, and one that another driver name has not replaced yet. */
  @Override
  public Collection<String> installedDrivers(
      LegacyDeployment resource, ClusterReader<LegacyDeployment> cluster) {
    return Stream.concat(Stream.of(driver(resource)), formerDrivers(resource, cluster))
        .distinct()
        .toList();
  }

  private static Stream<String> formerDrivers(
      LegacyDeployment resource, ClusterReader<LegacyDeployment> cluster) {
    return cluster.owned(CSIDriver.class).stream()
        .map(object -> object.getMetadata().getName())
        .filter(name -> !name.equals(driver(resource)));
  }

  @Override
  public LegacyObservation observe(
      LegacyDeployment resource, ClusterReader<LegacyDeployment> cluster) {
    var secrets = new HashMap<String, Secret>();
    names(resource)
        .ifPresent(
            names -> {
              for (String name :
                  List.of(names.authoritySecret(), names.registrySecret(), names.nodeSecret())) {
                drivers
                    .watches()
                    .ownSecret(name, cluster)
                    .ifPresent(secret -> secrets.put(name, secret));
              }
            });
    DriverObservation driver = drivers.observe(resource, secrets, cluster);
    return new LegacyObservation(
        driver,
        formerDrivers(resource, cluster)
            .flatMap(former -> guard().usage(resource, deletionPolicy(resource), former).stream())
            .toList(),
        lostNodes.read(driver(resource), driver.now(), cluster));
  }

  /** Another driver name ends the driver before, which volumes may need. */
  private static Optional<Problem> driverInUse(
      LegacyDeployment resource, LegacyObservation observed) {
    return observed.formerDrivers().stream()
        .flatMap(
            former ->
                DeletionGuard.hold(former, PmemCSIDeployment.FORCE_DELETION_ANNOTATION)
                    .map(
                        hold ->
                            new Problem(
                                Cause.DRIVER_IN_USE,
                                "driverName changed from %s to %s: %s"
                                    .formatted(former.driver(), driver(resource), hold.message()),
                                Optional.of(hold.requeueAfter())))
                    .stream())
        .findFirst();
  }

  @Override
  public PmemPlan<LegacyDeployment> decide(LegacyDeployment resource, LegacyObservation observed) {
    return PmemPlan.of(
        observed.driver().facts().applicable(LegacyDeploymentChecks.check(resource)),
        drivers.conflict(resource, observed.driver()).or(() -> driverInUse(resource, observed)),
        problem -> PmemPlan.blocked(problem, observed.driver()),
        () -> decideValid(resource, observed));
  }

  private PmemPlan<LegacyDeployment> decideValid(LegacyDeployment resource, LegacyObservation all) {
    DriverObservation observed = all.driver();
    LegacySettings settings = LegacySettings.of(resource);
    PmemModel driver = model(settings, observed.facts());
    var certificates = certificates(settings, driver, observed.now()).prepare(observed::secret);
    return new PmemPlan<>(
        certificates
            .failure()
            .<Action>map(failure -> new Action.Block(new Problem(Cause.CERTIFICATES, failure)))
            .orElseGet(
                () ->
                    drivers.apply(resource, LegacyDesiredState.of(driver, certificates.secrets()))),
        Optional.of(driver),
        certificates,
        observed,
        // reported only: this kind has no grace period after which volumes are released
        Optional.of(
            LostNodes.decide(
                all.lost(), resource.getStatus().lostNodes(), Optional.empty(), observed.now())));
  }

  @Override
  public RunningDriver rollOut(
      LegacyDeployment resource,
      PmemPlan<LegacyDeployment> plan,
      Optional<Problem> problem,
      ClusterReader<LegacyDeployment> cluster) {
    return drivers.running(resource, plan, true, problem, cluster);
  }

  @Override
  public void forget(LegacyDeployment resource) {
    PmemDriverKind.super.forget(resource);
    lostNodes.forget(driver(resource));
  }

  @Override
  public String describe(LegacyDeployment resource, RefusedObjectException refusal) {
    return new RefusedFields(
            resource.getSpec(),
            "controllerResources",
            (object, _) -> object instanceof StatefulSet ? "controllerResources" : "nodeResources")
        .describe(refusal);
  }

  /** Nothing was ever created for a resource that has none. */
  private static Optional<PmemNames> names(LegacyDeployment resource) {
    String name = resource.getMetadata().getName();
    return DriverName.isAllowed(name) && DriverName.isAllowed(driver(resource))
        ? Optional.of(names(new DriverName(driver(resource)), name))
        : Optional.empty();
  }

  /** Objects are named after the resource, which need not have the name of the driver. */
  private static PmemNames names(DriverName driver, String resource) {
    return new PmemNames(driver, new DriverName(resource).hyphenated());
  }

  private static CentralCertificates certificates(
      LegacySettings settings, PmemModel driver, Instant now) {
    return new CentralCertificates(driver, settings.certificates(), now);
  }

  private static PmemModel model(LegacySettings settings, ClusterFacts facts) {
    return new PmemModel(
        names(settings.driver(), settings.name()),
        settings,
        new PmemModel.Sizing(
            Optional.empty(),
            new IntOrString(1),
            settings.controllerResources(),
            settings.nodeResources(),
            settings.controllerResources(),
            settings.nodeResources()),
        facts);
  }
}
