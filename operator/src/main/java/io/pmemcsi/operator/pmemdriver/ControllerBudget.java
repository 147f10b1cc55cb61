package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.pmemcsi.operator.facts.KubernetesVersion;
import java.util.Map;
import java.util.Optional;

/**
 * The PodDisruptionBudget of a controller with several replicas: drains evict one replica at a
 * time. A single replica gets none: while it is not ready, a budget would only block drains.
 */
public final class ControllerBudget {

  private static final IntOrString ONE = new IntOrString(1);

  private final PmemModel driver;

  public ControllerBudget(PmemModel driver) {
    this.driver = driver;
  }

  /** The type of budgets on a server of this version: 1.20 has {@code policy/v1beta1} only. */
  public static Class<? extends HasMetadata> type(KubernetesVersion version) {
    return hasV1(version)
        ? PodDisruptionBudget.class
        : io.fabric8.kubernetes.api.model.policy.v1beta1.PodDisruptionBudget.class;
  }

  /** Empty for a single replica. */
  public Optional<HasMetadata> object() {
    return driver
        .sizing()
        .controllerReplicas()
        .filter(replicas -> replicas > 1)
        .map(_ -> hasV1(driver.facts().version()) ? v1() : v1beta1());
  }

  private PodDisruptionBudget v1() {
    PodDisruptionBudget budget =
        new PodDisruptionBudgetBuilder()
            .withMetadata(
                driver.namespaced(
                    driver.names().controller(), driver.labels().of(Component.CONTROLLER)))
            .withNewSpec()
            .withMaxUnavailable(ONE)
            .withNewSelector()
            .withMatchLabels(selector())
            .endSelector()
            .endSpec()
            .build();
    if (driver.facts().version().atLeast(1, 27)) {
      // replicas that do not become ready must not block the drain of their nodes
      budget.getSpec().setUnhealthyPodEvictionPolicy("AlwaysAllow");
    }
    return budget;
  }

  private HasMetadata v1beta1() {
    return new io.fabric8.kubernetes.api.model.policy.v1beta1.PodDisruptionBudgetBuilder()
        .withMetadata(
            driver.namespaced(
                driver.names().controller(), driver.labels().of(Component.CONTROLLER)))
        .withNewSpec()
        .withMaxUnavailable(ONE)
        .withNewSelector()
        .withMatchLabels(selector())
        .endSelector()
        .endSpec()
        .build();
  }

  private Map<String, String> selector() {
    return driver.labels().selector(Component.CONTROLLER);
  }

  private static boolean hasV1(KubernetesVersion version) {
    return version.atLeast(1, 21);
  }
}
