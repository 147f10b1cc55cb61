package io.pmemcsi.operator.runtime;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this replica does about the lease on which replicas agree. When it is lost while the
 * operator runs, somebody else leads from then on, and the process must stop at once, in the middle
 * of whatever it does; when the operator is closed, it is given back, so that nobody has to wait
 * for it to run out.
 */
final class LeaderLease {

  private static final Logger LOG = LoggerFactory.getLogger(LeaderLease.class);

  private final String namespace;
  private final String identity;
  private final Runnable onLeading;
  private final FatalErrorHandler breakdown;
  private final AtomicBoolean leading = new AtomicBoolean();

  /**
   * The lease in a namespace.
   *
   * @param onLeading what to do when this replica begins to lead
   * @param breakdown told when the lease is lost
   */
  LeaderLease(String namespace, String identity, Runnable onLeading, FatalErrorHandler breakdown) {
    this.namespace = namespace;
    this.identity = identity;
    this.onLeading = onLeading;
    this.breakdown = breakdown;
  }

  String identity() {
    return identity;
  }

  LeaderCallbacks callbacks() {
    return new LeaderCallbacks(
        this::won,
        () -> breakdown.leaseLost(OperatorProgram.LEASE, namespace),
        leader -> LOG.atInfo().addKeyValue("leader", leader).log("New leader."));
  }

  void giveBack(KubernetesClient client) {
    if (!leading.get()) {
      return;
    }
    try {
      var lease = client.leases().inNamespace(namespace).withName(OperatorProgram.LEASE);
      var current = lease.get();
      if (current != null && identity.equals(current.getSpec().getHolderIdentity())) {
        current.getSpec().setHolderIdentity("");
        client.resource(current).update();
      }
    } catch (KubernetesClientException e) {
      LOG.atInfo().addKeyValue("cause", e.getMessage()).log("The lease was not given back.");
    }
  }

  private void won() {
    leading.set(true);
    onLeading.run();
  }
}
