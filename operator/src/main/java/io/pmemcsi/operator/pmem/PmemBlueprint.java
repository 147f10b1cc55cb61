package io.pmemcsi.operator.pmem;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.apps.StatefulSetBuilder;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.CSIDriverBuilder;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.operator.engine.Blueprint;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.ServedApi;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Every object of a driver, from its settings and the facts about the cluster. */
public final class PmemBlueprint {

  /** Pods are refused while the webhook does not answer. */
  static final String MUST_ANSWER = "Fail";

  private static final String MAY_ANSWER = "Ignore";

  private PmemBlueprint() {}

  /**
   * Computes the objects; nothing is looked up.
   *
   * @param certificates those of the controller; without any there is no controller
   */
  public static Blueprint of(
      PmemSettings settings, ClusterFacts facts, Optional<ControllerCertificates> certificates) {
    return of(settings, facts, certificates, List.of(), true);
  }

  /**
   * Computes the objects with what a cluster shows besides the facts.
   *
   * @param answering whether the webhook answers, so that it may be made a must
   */
  static Blueprint of(
      PmemSettings settings,
      ClusterFacts facts,
      Optional<ControllerCertificates> certificates,
      List<HasMetadata> secrets,
      boolean answering) {
    var driver = new Driver(settings, facts);
    var wanted = new ArrayList<HasMetadata>();
    wanted.add(csiDriver(driver));
    wanted.addAll(new NodeAccess(driver).objects());
    wanted.addAll(secrets);
    certificates.ifPresent(with -> addController(driver, with, answering, wanted));
    wanted.add(new NodePods(driver).daemonSet());
    wanted.addAll(new NodeSetup(driver).objects());
    return new Blueprint(wanted, formerly(driver));
  }

  private static void addController(
      Driver driver,
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

  private static CSIDriver csiDriver(Driver driver) {
    CSIDriver object =
        new CSIDriverBuilder()
            .withMetadata(Driver.clusterWide(driver.names().driverName(), driver.labels().common()))
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

  /** What releases before 1.0 made; a resource may have been theirs. */
  private static List<HasMetadata> formerly(Driver driver) {
    var names = driver.names();
    return List.of(
        new StatefulSetBuilder()
            .withMetadata(driver.namespaced(names.controller(), Map.of()))
            .build(),
        new ServiceBuilder().withMetadata(driver.namespaced(names.controller(), Map.of())).build(),
        new ServiceBuilder()
            .withMetadata(driver.namespaced(names.name("metrics"), Map.of()))
            .build(),
        new SecretBuilder()
            .withMetadata(driver.namespaced(names.name("registry-secrets"), Map.of()))
            .build(),
        new SecretBuilder()
            .withMetadata(driver.namespaced(names.name("node-secrets"), Map.of()))
            .build(),
        new ConfigMapBuilder()
            .withMetadata(driver.namespaced(names.controller(), Map.of()))
            .build());
  }
}
