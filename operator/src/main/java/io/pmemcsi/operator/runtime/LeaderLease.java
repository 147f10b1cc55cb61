package io.pmemcsi.operator.runtime;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This replica's side of the leader election. When the lease is lost while the operator runs,
 * another replica leads, and the process must stop at once; when the operator is closed, the lease
 * is released, so that no other replica has to wait until it expires.
 */
final class LeaderLease {

  private static final Logger LOG = LoggerFactory.getLogger(LeaderLease.class);

  private final String namespace;
  private final String identity;
  private final Runnable onLeading;
  private final FatalErrorHandler fatal;
  private final AtomicBoolean leading = new AtomicBoolean();
  private volatile String leader = "";

  /**
   * The lease in a namespace.
   *
   * @param onLeading what to do when this replica begins to lead
   * @param fatal called when the lease is lost
   */
  LeaderLease(String namespace, String identity, Runnable onLeading, FatalErrorHandler fatal) {
    this.namespace = namespace;
    this.identity = identity;
    this.onLeading = onLeading;
    this.fatal = fatal;
  }

  String identity() {
    return identity;
  }

  LeaderCallbacks callbacks() {
    return new LeaderCallbacks(
        this::won,
        () ->
            fatal.leaseLost(
                OperatorProgram.LEASE,
                namespace,
                Optional.of(leader).filter(name -> !name.isEmpty() && !name.equals(identity))),
        this::observe);
  }

  /** Called before the lease is lost; a released lease has no holder. */
  private void observe(@Nullable String holder) {
    if (holder != null && !holder.isEmpty()) {
      leader = holder;
      LOG.atInfo().addKeyValue("leader", holder).log("New leader.");
    }
  }

  void release(KubernetesClient client) {
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
      LOG.atInfo().addKeyValue("cause", e.getMessage()).log("The lease was not released.");
    }
  }

  private void won() {
    leading.set(true);
    onLeading.run();
  }
}
