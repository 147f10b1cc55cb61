package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.ManagementState;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentChecks;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.api.pmem.TLSMaterial;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.apply.RefusedObjectException;
import io.pmemcsi.operator.controller.ClusterReader;
import io.pmemcsi.operator.controller.Plan.Action;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.controller.Problem.Cause;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.objects.VolumeSnapshotClass;
import io.pmemcsi.operator.pmemdriver.ControllerBudget;
import io.pmemcsi.operator.pmemdriver.ControllerCertificates;
import io.pmemcsi.operator.pmemdriver.ControllerServices;
import io.pmemcsi.operator.pmemdriver.ControllerWorkload;
import io.pmemcsi.operator.pmemdriver.DriverObservation;
import io.pmemcsi.operator.pmemdriver.LostNodes;
import io.pmemcsi.operator.pmemdriver.LostNodesReader;
import io.pmemcsi.operator.pmemdriver.LostVolumeRelease;
import io.pmemcsi.operator.pmemdriver.NodeAdmissionPolicy;
import io.pmemcsi.operator.pmemdriver.PmemCertificates;
import io.pmemcsi.operator.pmemdriver.PmemDriverKind;
import io.pmemcsi.operator.pmemdriver.PmemDrivers;
import io.pmemcsi.operator.pmemdriver.PmemModel;
import io.pmemcsi.operator.pmemdriver.PmemNames;
import io.pmemcsi.operator.pmemdriver.PmemPeer;
import io.pmemcsi.operator.pmemdriver.PmemPlan;
import io.pmemcsi.operator.pmemdriver.RunningDriver;
import io.pmemcsi.operator.usage.UsageReader;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** PmemCSIDeployment: PMEM-CSI with provisioning on every node. */
public final class PmemKind implements PmemDriverKind<PmemCSIDeployment, PmemObservation> {

  private static final List<Class<? extends HasMetadata>> OWNED =
      List.of(
          CSIDriver.class,
          ServiceAccount.class,
          Role.class,
          RoleBinding.class,
          ClusterRole.class,
          ClusterRoleBinding.class,
          StorageClass.class,
          NetworkPolicy.class,
          Secret.class,
          Service.class,
          Deployment.class,
          DaemonSet.class,
          MutatingWebhookConfiguration.class);

  private final PmemDrivers<PmemCSIDeployment> drivers;
  private final LostNodesReader<PmemCSIDeployment> lostNodes;

  /**
   * The kind in one cluster.
   *
   * @param namespace of the operator and of the drivers
   */
  public PmemKind(String namespace, Supplier<ClusterFacts> facts, UsageReader usage, Clock clock) {
    this.drivers =
        new PmemDrivers<>(
            new PmemDrivers.Description<>(
                PmemPeer.Type.V1BETA1,
                owned(facts.get()),
                ControllerWorkload.DEPLOYMENT,
                PmemKind::names,
                resource -> Written.text(resource.getSpec().controllerTLSSecret())),
            namespace,
            facts,
            usage,
            clock);
    this.lostNodes = new LostNodesReader<>(drivers.watches(), clock);
  }

  /**
   * Kinds that the server does not have cannot be watched. Policies after an upgrade of the server,
   * and snapshot classes after their CRD was installed, are watched when the operator starts again;
   * until then each reconciliation reads those that are desired.
   */
  private static List<Class<? extends HasMetadata>> owned(ClusterFacts facts) {
    var owned = new ArrayList<>(OWNED);
    owned.add(ControllerBudget.type(facts.version()));
    if (facts.serves(ServedApi.ADMISSION_POLICIES)) {
      owned.addAll(NodeAdmissionPolicy.KINDS);
    }
    if (facts.serves(ServedApi.SNAPSHOTS)) {
      owned.add(VolumeSnapshotClass.class);
    }
    return List.copyOf(owned);
  }

  @Override
  public PmemDrivers<PmemCSIDeployment> drivers() {
    return drivers;
  }

  @Override
  public DesiredState render(PmemCSIDeployment resource, ClusterFacts assumed) {
    PmemSettings settings = PmemSettings.of(resource);
    PmemModel driver = model(settings, assumed);
    return PmemDesiredState.of(
        driver,
        ControllerCertificates.of(settings.tls(), driver.names()),
        certificates(settings, driver, Optional.empty(), Instant.EPOCH).inlineSecrets(),
        true);
  }

  @Override
  public PmemCSIDeployment withEveryFeature() {
    return new KubernetesSerialization()
        .unmarshal(
            "metadata: {name: any}\nspec: {controllerTLS: {managed: true}, startupTaint: true}",
            PmemCSIDeployment.class);
  }

  @Override
  public boolean isManaged(PmemCSIDeployment resource) {
    return ManagementState.isManaged(resource.getSpec().managementState());
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
    DriverObservation driver = drivers.observe(resource, secrets, cluster);
    return new PmemObservation(
        driver,
        names
            .filter(
                found ->
                    ControllerServices.hasAnswered(
                        cluster.owned(Deployment.class, found.controller()), webhook))
            .isPresent(),
        webhook,
        lostNodes.read(drivers.driverName(resource), driver.now(), cluster));
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
          drivers.watches().secret(name, cluster).ifPresent(secret -> found.put(name, secret));
      case TLSMaterial.Managed _ -> {
        for (String name : List.of(names.authoritySecret(), names.controllerSecret())) {
          drivers.watches().ownSecret(name, cluster).ifPresent(secret -> found.put(name, secret));
        }
      }
    }
  }

  @Override
  public PmemPlan<PmemCSIDeployment> decide(PmemCSIDeployment resource, PmemObservation observed) {
    return PmemPlan.of(
        observed.driver().facts().applicable(PmemCSIDeploymentChecks.check(resource)),
        drivers.conflict(resource, observed.driver()),
        problem -> decideBlocked(resource, problem, observed),
        () -> decideValid(resource, observed));
  }

  /** Nothing renews or replaces a certificate here: once expired, pods must not depend on it. */
  private static PmemPlan<PmemCSIDeployment> decideBlocked(
      PmemCSIDeployment resource, Problem problem, PmemObservation observed) {
    Optional<Instant> expires = Optional.ofNullable(resource.getStatus().certificateExpires());
    boolean expired = expires.filter(end -> !observed.driver().now().isBefore(end)).isPresent();
    return new PmemPlan<>(
        new Action.Block(
            problem,
            Optional.empty(),
            expired ? ControllerServices.relaxed(observed.webhook()) : Optional.empty()),
        Optional.empty(),
        PmemCertificates.Prepared.unchecked(expired ? Optional.empty() : expires),
        observed.driver());
  }

  private PmemPlan<PmemCSIDeployment> decideValid(
      PmemCSIDeployment resource, PmemObservation observed) {
    PmemSettings settings = PmemSettings.of(resource);
    PmemModel driver = model(settings, observed.driver().facts());
    PmemCertificates.Prepared certificates =
        certificates(settings, driver, observed.webhook(), observed.driver().now())
            .prepare(observed.driver()::secret);
    return new PmemPlan<>(
        certificates
            .failure()
            .<Action>map(
                failure ->
                    new Action.Block(
                        new Problem(Cause.CERTIFICATES, failure),
                        Optional.empty(),
                        ControllerServices.relaxed(observed.webhook())))
            .orElseGet(
                () ->
                    drivers.apply(
                        resource,
                        PmemDesiredState.of(
                            driver,
                            certificates.certificates(),
                            certificates.secrets(),
                            observed.webhookHasAnswered()
                                && isTrusted(certificates.certificates(), observed.webhook())))),
        Optional.of(driver),
        certificates,
        observed.driver(),
        Optional.of(
            LostNodes.decide(
                observed.lost(),
                resource.getStatus().lostNodes(),
                settings.releaseLostNodesAfter(),
                observed.driver().now())));
  }

  /** Where OpenShift injects the authority, the API server trusts nothing before that. */
  private static boolean isTrusted(
      Optional<ControllerCertificates> certificates,
      Optional<MutatingWebhookConfiguration> webhook) {
    return certificates.filter(ControllerCertificates::issuedByOpenShift).isEmpty()
        || webhook.flatMap(ControllerServices::authority).isPresent();
  }

  @Override
  public RunningDriver rollOut(
      PmemCSIDeployment resource,
      PmemPlan<PmemCSIDeployment> plan,
      Optional<Problem> problem,
      ClusterReader<PmemCSIDeployment> cluster) {
    List<String> notReleased =
        plan.lostNodes()
            .map(lost -> new LostVolumeRelease(cluster.client()).release(lost.due()))
            .orElse(List.of());
    return drivers
        .running(
            resource,
            plan,
            plan.driver().isPresent() && PmemSettings.of(resource).hasController(),
            problem,
            cluster)
        .withNotReleased(notReleased);
  }

  @Override
  public void forget(PmemCSIDeployment resource) {
    PmemDriverKind.super.forget(resource);
    lostNodes.forget(drivers.driverName(resource));
  }

  @Override
  public String describe(PmemCSIDeployment resource, RefusedObjectException refusal) {
    return new PmemFields(resource.getSpec()).refused().describe(refusal);
  }

  /** Nothing was ever created for a resource that has none. */
  private static Optional<PmemNames> names(PmemCSIDeployment resource) {
    String name = resource.getMetadata().getName();
    return DriverName.isAllowed(name)
        ? Optional.of(new PmemNames(new DriverName(name)))
        : Optional.empty();
  }

  private static PmemCertificates certificates(
      PmemSettings settings,
      PmemModel driver,
      Optional<MutatingWebhookConfiguration> webhook,
      Instant now) {
    var spec = settings.spec();
    return new PmemCertificates(
        driver,
        settings.tls(),
        spec.nodeControllerCert() == null || spec.nodeControllerKey() == null
            ? Optional.empty()
            : Optional.of(
                new PmemCertificates.NodeController(
                    spec.nodeControllerCert(), spec.nodeControllerKey())),
        webhook,
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
