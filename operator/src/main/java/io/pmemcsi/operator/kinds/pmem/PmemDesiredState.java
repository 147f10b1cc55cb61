package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.apps.StatefulSetBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.CSIDriverBuilder;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.ServedApi;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Every object of a driver, from its settings and the facts about the cluster. */
public final class PmemDesiredState {

  /** Pods are refused while the webhook does not answer. */
  static final String MUST_ANSWER = "Fail";

  private static final String MAY_ANSWER = "Ignore";

  private PmemDesiredState() {}

  /** As far as it can be told without looking at a cluster. */
  public static DesiredState assumed(PmemSettings settings, ClusterFacts facts) {
    return of(
        settings,
        facts,
        PmemCertificates.assumed(settings),
        PmemCertificates.assumedSecrets(settings, facts),
        true);
  }

  /**
   * Computes the objects; nothing is looked up.
   *
   * @param certificates those of the controller; without any there is no controller
   */
  public static DesiredState of(
      PmemSettings settings, ClusterFacts facts, Optional<ControllerCertificates> certificates) {
    return of(settings, facts, certificates, List.of(), true);
  }

  /**
   * Computes the objects with what a cluster shows besides the facts.
   *
   * @param answering whether the webhook answers, so that it may be made a must
   */
  static DesiredState of(
      PmemSettings settings,
      ClusterFacts facts,
      Optional<ControllerCertificates> certificates,
      List<HasMetadata> secrets,
      boolean answering) {
    var driver = new PmemModel(settings, facts);
    var wanted = new ArrayList<HasMetadata>();
    wanted.add(csiDriver(driver));
    wanted.addAll(new NodeRbac(driver).objects());
    wanted.addAll(secrets);
    certificates.ifPresent(with -> addController(driver, with, answering, wanted));
    wanted.add(new NodePods(driver).daemonSet());
    wanted.addAll(new NodeSetup(driver).objects());
    return new DesiredState(wanted, formerly(driver));
  }

  private static void addController(
      PmemModel driver,
      ControllerCertificates certificates,
      boolean answering,
      List<HasMetadata> wanted) {
    var controller = new Controller(driver, certificates);
    var services = new ControllerServices(driver, certificates);
    wanted.addAll(controller.access());
    wanted.add(services.scheduler());
    Optional<String> failurePolicy =
        switch (driver.settings().mutatePods()) {
          case ALWAYS -> Optional.of(answering ? MUST_ANSWER : MAY_ANSWER);
          case TRY -> Optional.of(MAY_ANSWER);
          case NEVER -> Optional.empty();
        };
    // OpenShift makes the certificate for the webhook's service, so it is needed in any case
    if (failurePolicy.isPresent() || certificates.issuedByOpenShift()) {
      wanted.add(services.webhook());
    }
    wanted.add(controller.deployment());
    failurePolicy.ifPresent(policy -> wanted.add(services.configuration(policy)));
  }

  private static CSIDriver csiDriver(PmemModel driver) {
    CSIDriver object =
        new CSIDriverBuilder()
            .withMetadata(
                PmemModel.clusterWide(driver.names().driverName(), driver.labels().common()))
            .withNewSpec()
            .withAttachRequired(false)
            .withPodInfoOnMount(true)
            .withVolumeLifecycleModes("Persistent", "Ephemeral")
            .endSpec()
            .build();
    if (driver.facts().serves(ServedApi.STORAGE_CAPACITY)) {
      object.getSpec().setStorageCapacity(true);
    }
    return object;
  }

  /**
   * What earlier releases made, with nothing but an owner reference to show for it; a resource may
   * have been theirs. They made what the controller needs whether there was one or not.
   */
  private static List<HasMetadata> formerly(PmemModel driver) {
    var names = driver.names();
    return List.of(
        new StatefulSetBuilder().withMetadata(former(driver, names.controller())).build(),
        new DeploymentBuilder().withMetadata(former(driver, names.controller())).build(),
        new ServiceBuilder().withMetadata(former(driver, names.controller())).build(),
        new ServiceBuilder().withMetadata(former(driver, names.name("metrics"))).build(),
        new ServiceBuilder().withMetadata(former(driver, names.schedulerService())).build(),
        new ServiceBuilder().withMetadata(former(driver, names.webhookService())).build(),
        new SecretBuilder().withMetadata(former(driver, names.name("registry-secrets"))).build(),
        new SecretBuilder().withMetadata(former(driver, names.name("node-secrets"))).build(),
        new ConfigMapBuilder().withMetadata(former(driver, names.controller())).build(),
        new ServiceAccountBuilder().withMetadata(former(driver, names.webhooksAccount())).build(),
        new RoleBuilder().withMetadata(former(driver, names.webhooksRole())).build(),
        new RoleBindingBuilder().withMetadata(former(driver, names.webhooksRoleBinding())).build(),
        new RoleBindingBuilder().withMetadata(former(driver, names.openshiftRoleBinding())).build(),
        new ClusterRoleBuilder()
            .withMetadata(PmemModel.clusterWide(names.webhooksClusterRole(), Map.of()))
            .build(),
        new ClusterRoleBindingBuilder()
            .withMetadata(PmemModel.clusterWide(names.webhooksClusterRoleBinding(), Map.of()))
            .build(),
        new MutatingWebhookConfigurationBuilder()
            .withMetadata(PmemModel.clusterWide(names.webhookConfiguration(), Map.of()))
            .build());
  }

  private static ObjectMeta former(PmemModel driver, String name) {
    return driver.namespaced(name, Map.of());
  }
}
