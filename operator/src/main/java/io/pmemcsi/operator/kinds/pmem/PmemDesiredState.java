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
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.pmemdriver.ControllerCertificates;
import io.pmemcsi.operator.pmemdriver.ControllerPods;
import io.pmemcsi.operator.pmemdriver.ControllerServices;
import io.pmemcsi.operator.pmemdriver.NodePods;
import io.pmemcsi.operator.pmemdriver.NodeRbac;
import io.pmemcsi.operator.pmemdriver.NodeSetup;
import io.pmemcsi.operator.pmemdriver.PmemModel;
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
    desired.add(csiDriver(driver));
    desired.addAll(new NodeRbac(driver).objects());
    desired.addAll(secrets);
    certificates.ifPresent(found -> addController(driver, found, answering, desired));
    desired.add(new NodePods(driver).daemonSet());
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
                  answering && certificates.webhookService().isPresent()
                      ? ControllerServices.FAIL
                      : ControllerServices.IGNORE);
          case TRY -> Optional.of(ControllerServices.IGNORE);
          case NEVER -> Optional.empty();
        };
    // OpenShift issues the certificate for the webhook's service, so it is needed in any case
    if (failurePolicy.isPresent() || certificates.issuedByOpenShift()) {
      desired.add(services.webhook());
    }
    desired.add(pods.deployment());
    failurePolicy.ifPresent(policy -> desired.add(services.configuration(policy)));
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
   * What earlier releases created, with an owner reference as the only sign of ownership. They
   * created what the controller needs whether there was one or not.
   */
  private static List<HasMetadata> legacyObjects(PmemModel driver) {
    var names = driver.names();
    return List.of(
        new StatefulSetBuilder().withMetadata(named(driver, names.controller())).build(),
        new DeploymentBuilder().withMetadata(named(driver, names.controller())).build(),
        new ServiceBuilder().withMetadata(named(driver, names.controller())).build(),
        new ServiceBuilder().withMetadata(named(driver, names.name("metrics"))).build(),
        new ServiceBuilder().withMetadata(named(driver, names.schedulerService())).build(),
        new ServiceBuilder().withMetadata(named(driver, names.webhookService())).build(),
        new SecretBuilder().withMetadata(named(driver, names.name("registry-secrets"))).build(),
        new SecretBuilder().withMetadata(named(driver, names.name("node-secrets"))).build(),
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
