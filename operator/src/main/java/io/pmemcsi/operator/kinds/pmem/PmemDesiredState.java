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
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.objects.SnapshotClasses;
import io.pmemcsi.operator.objects.StorageClasses;
import io.pmemcsi.operator.pmemdriver.ControllerBudget;
import io.pmemcsi.operator.pmemdriver.ControllerCertificates;
import io.pmemcsi.operator.pmemdriver.ControllerPods;
import io.pmemcsi.operator.pmemdriver.ControllerServices;
import io.pmemcsi.operator.pmemdriver.NodeAdmissionPolicy;
import io.pmemcsi.operator.pmemdriver.NodePods;
import io.pmemcsi.operator.pmemdriver.NodePods.Provisioning;
import io.pmemcsi.operator.pmemdriver.NodeRbac;
import io.pmemcsi.operator.pmemdriver.NodeSetup;
import io.pmemcsi.operator.pmemdriver.PmemModel;
import io.pmemcsi.operator.pmemdriver.PodPolicies;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Every object of a driver with provisioning on every node. */
final class PmemDesiredState {

  private PmemDesiredState() {}

  /**
   * Computes the objects, in the order in which to write them.
   *
   * @param certificates those of the controller; without any there is no controller
   * @param answering whether the webhook has answered, so that pods may depend on it
   */
  static DesiredState of(
      PmemModel driver,
      Optional<ControllerCertificates> certificates,
      List<HasMetadata> secrets,
      boolean answering) {
    var desired = new ArrayList<HasMetadata>();
    desired.add(driver.csiDriver());
    desired.addAll(new NodeRbac(driver, Provisioning.ON_EACH_NODE).objects());
    desired.addAll(
        new StorageClasses(driver.names().driverName(), driver.labels().common())
            .objects(driver.settings().storageClassTemplates()));
    if (driver.takesSnapshots()) {
      desired.addAll(
          new SnapshotClasses(driver.names().driverName(), driver.labels().common())
              .objects(driver.settings().snapshotClassTemplates()));
    }
    desired.addAll(new PodPolicies(driver).onEachNode(certificates));
    desired.addAll(new NodeAdmissionPolicy(driver).objects());
    desired.addAll(secrets);
    certificates.ifPresent(found -> addController(driver, found, answering, desired));
    desired.add(new NodePods(driver, Provisioning.ON_EACH_NODE).daemonSet());
    desired.addAll(new NodeSetup(driver).objects());
    return new DesiredState(desired, legacyObjects(driver));
  }

  private static void addController(
      PmemModel driver,
      ControllerCertificates certificates,
      boolean answering,
      List<HasMetadata> desired) {
    var pods = new ControllerPods(driver, certificates);
    var services = new ControllerServices(driver, certificates);
    desired.addAll(pods.rbac());
    desired.add(services.scheduler());
    Optional<String> failurePolicy =
        switch (driver.settings().mutatePods()) {
          case ALWAYS ->
              Optional.of(
                  answering && certificates.isUsable()
                      ? ControllerServices.FAIL
                      : ControllerServices.IGNORE);
          case TRY -> Optional.of(ControllerServices.IGNORE);
          case NEVER -> Optional.empty();
        };
    // OpenShift issues the certificate for the webhook's service, so it is needed in any case
    if (failurePolicy.isPresent() || certificates.issuedByOpenShift()) {
      desired.add(services.webhook());
    }
    new ControllerBudget(driver).object().ifPresent(desired::add);
    desired.add(pods.deployment());
    failurePolicy.ifPresent(policy -> desired.add(services.configuration(policy)));
  }

  /**
   * What earlier releases created, with an owner reference as the only sign of ownership. They
   * created what the controller needs whether there was one or not.
   */
  private static List<HasMetadata> legacyObjects(PmemModel driver) {
    var names = driver.names();
    return List.of(
        new StatefulSetBuilder().withMetadata(named(driver, names.controller())).build(),
        new DeploymentBuilder().withMetadata(named(driver, names.controller())).build(),
        new ServiceBuilder().withMetadata(named(driver, names.controller())).build(),
        new ServiceBuilder().withMetadata(named(driver, names.metricsService())).build(),
        new ServiceBuilder().withMetadata(named(driver, names.schedulerService())).build(),
        new ServiceBuilder().withMetadata(named(driver, names.webhookService())).build(),
        new SecretBuilder().withMetadata(named(driver, names.registrySecret())).build(),
        new SecretBuilder().withMetadata(named(driver, names.nodeSecret())).build(),
        new ConfigMapBuilder().withMetadata(named(driver, names.controller())).build(),
        new ServiceAccountBuilder().withMetadata(named(driver, names.webhooksAccount())).build(),
        new RoleBuilder().withMetadata(named(driver, names.webhooksRole())).build(),
        new RoleBindingBuilder().withMetadata(named(driver, names.webhooksRoleBinding())).build(),
        new RoleBindingBuilder().withMetadata(named(driver, names.openshiftRoleBinding())).build(),
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

  private static ObjectMeta named(PmemModel driver, String name) {
    return driver.namespaced(name, Map.of());
  }
}
