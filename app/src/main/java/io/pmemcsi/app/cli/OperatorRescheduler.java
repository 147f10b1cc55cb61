package io.pmemcsi.app.cli;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.controller.cluster.ClusterCache;
import io.pmemcsi.controller.rescheduler.DriverNodes;
import io.pmemcsi.controller.rescheduler.ElectedRescheduler;
import io.pmemcsi.controller.rescheduler.Rescheduler;
import io.pmemcsi.operator.kinds.pmem.DriversWithoutController;
import java.time.Clock;
import java.util.List;
import java.util.UUID;

/** The rescheduler beside an operator, for the drivers that have no controller of their own. */
final class OperatorRescheduler implements AutoCloseable {

  private static final String LEASE = "pmem-csi-operator-rescheduler";

  private final ClusterCache cache;
  private final ElectedRescheduler rescheduler;

  private OperatorRescheduler(ClusterCache cache, ElectedRescheduler rescheduler) {
    this.cache = cache;
    this.rescheduler = rescheduler;
  }

  /**
   * Starts in the background.
   *
   * @param namespace that of the operator
   * @param rescheduled counts claims
   */
  static OperatorRescheduler start(
      KubernetesClient client, String namespace, Runnable rescheduled) {
    ClusterCache cache = ClusterCache.start(client);
    return new OperatorRescheduler(
        cache,
        ElectedRescheduler.start(
            client,
            namespace,
            LEASE,
            "operator_" + UUID.randomUUID(),
            new Rescheduler(client, cache, () -> drivers(client), rescheduled, Clock.systemUTC())));
  }

  private static List<DriverNodes> drivers(KubernetesClient client) {
    return DriversWithoutController.list(client).entrySet().stream()
        .map(driver -> new DriverNodes(driver.getKey(), driver.getValue()))
        .toList();
  }

  @Override
  public void close() {
    rescheduler.close();
    cache.close();
  }
}
