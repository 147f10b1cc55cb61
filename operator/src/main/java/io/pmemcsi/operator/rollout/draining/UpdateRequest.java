package io.pmemcsi.operator.rollout.draining;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.pmemcsi.api.template.Draining;
import io.pmemcsi.api.template.NodeUpdateStrategy;
import org.jspecify.annotations.Nullable;

/**
 * The update of one driver's nodes.
 *
 * @param owner uid of the resource
 * @param resource its namespace and name, separated by a slash
 * @param driver the name of the CSI driver
 * @param daemonSet as observed, with its status
 */
public record UpdateRequest(
    String owner,
    String resource,
    String driver,
    NodeUpdateStrategy strategy,
    Draining settings,
    DaemonSet daemonSet) {

  /** The update of a resource's nodes. */
  public static UpdateRequest of(
      HasMetadata resource,
      String driver,
      NodeUpdateStrategy strategy,
      Draining settings,
      DaemonSet daemonSet) {
    return new UpdateRequest(
        resource.getMetadata().getUid(),
        resource.getMetadata().getNamespace() + "/" + resource.getMetadata().getName(),
        driver,
        strategy,
        settings,
        daemonSet);
  }

  /** Whether the DaemonSet controller reports every node as updated. */
  boolean isUpToDate() {
    var status = daemonSet.getStatus();
    Long seen = status == null ? null : status.getObservedGeneration();
    return seen != null
        && seen >= daemonSet.getMetadata().getGeneration()
        && number(status.getUpdatedNumberScheduled()) >= number(status.getDesiredNumberScheduled());
  }

  private static int number(@Nullable Integer value) {
    return value == null ? 0 : value;
  }
}
