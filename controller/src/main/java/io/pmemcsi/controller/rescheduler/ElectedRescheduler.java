package io.pmemcsi.controller.rescheduler;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.pmemcsi.base.error.Reason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs a {@link Rescheduler} in that one of several replicas which holds a lease. */
public final class ElectedRescheduler implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ElectedRescheduler.class);
  private static final Duration LEASE = Duration.ofSeconds(15);
  private static final Duration RENEW = Duration.ofSeconds(10);
  private static final Duration RETRY = Duration.ofSeconds(2);

  private final Rescheduler rescheduler;
  private final AtomicBoolean leading = new AtomicBoolean();
  private final Thread checks =
      Thread.ofVirtual().name("rescheduler").unstarted(this::keepChecking);
  private final Thread election;

  private ElectedRescheduler(
      KubernetesClient client,
      String namespace,
      String lease,
      String identity,
      Rescheduler rescheduler) {
    this.rescheduler = rescheduler;
    this.election =
        Thread.ofVirtual()
            .name("election")
            .unstarted(() -> keepElecting(client, namespace, lease, identity));
  }

  /**
   * Starts in the background.
   *
   * @param identity distinguishes this replica from others
   */
  public static ElectedRescheduler start(
      KubernetesClient client,
      String namespace,
      String lease,
      String identity,
      Rescheduler rescheduler) {
    var started = new ElectedRescheduler(client, namespace, lease, identity, rescheduler);
    started.election.start();
    started.checks.start();
    return started;
  }

  /** Gives the lease back, so that another replica need not wait until it expires. */
  @Override
  public void close() {
    checks.interrupt();
    election.interrupt();
    try {
      election.join(RETRY);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void keepChecking() {
    try {
      while (true) {
        Thread.sleep(Rescheduler.PERIOD);
        if (leading.get()) {
          checkOnce();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void checkOnce() {
    try {
      rescheduler.check();
    } catch (RuntimeException e) {
      LOG.atWarn()
          .addKeyValue("cause", Reason.of(e))
          .log("Claims were not checked and are checked again.");
    }
  }

  /** An election ends when the lease is lost; then the next one begins. */
  private void keepElecting(
      KubernetesClient client, String namespace, String lease, String identity) {
    try {
      while (true) {
        CompletableFuture<?> election = elector(client, namespace, lease, identity);
        try {
          election.get();
        } catch (InterruptedException e) {
          // releases the lease
          election.cancel(true);
          throw e;
        } catch (ExecutionException | RuntimeException e) {
          LOG.atWarn().addKeyValue("cause", Reason.of(e)).log("Leader election failed.");
        }
        leading.set(false);
        Thread.sleep(RETRY);
      }
    } catch (InterruptedException e) {
      leading.set(false);
      Thread.currentThread().interrupt();
    }
  }

  private CompletableFuture<?> elector(
      KubernetesClient client, String namespace, String lease, String identity) {
    return client
        .leaderElector()
        .withConfig(
            new LeaderElectionConfigBuilder()
                .withName(lease)
                .withLock(new LeaseLock(namespace, lease, identity))
                .withLeaseDuration(LEASE)
                .withRenewDeadline(RENEW)
                .withRetryPeriod(RETRY)
                .withReleaseOnCancel(true)
                .withLeaderCallbacks(
                    new LeaderCallbacks(
                        () -> leading.set(true),
                        () -> leading.set(false),
                        leader ->
                            LOG.atInfo()
                                .addKeyValue("leader", leader)
                                .log("New leader for rescheduling.")))
                .build())
        .build()
        .start();
  }
}
