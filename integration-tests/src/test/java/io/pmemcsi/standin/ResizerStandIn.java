package io.pmemcsi.standin;

import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimConditionBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Stand-in for external-resizer in its trivial mode, which is for drivers that expand volumes on
 * the node only: it sets the capacity of the PersistentVolume and reports that kubelet has to do
 * the rest. It polls where the real one watches.
 */
final class ResizerStandIn {

  private static final long POLL_MILLIS = 500;
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private final KubernetesClient client;
  private final String driverName;

  private ResizerStandIn(KubernetesClient client, String driverName) {
    this.client = client;
    this.driverName = driverName;
  }

  public static void main(String... flags) {
    Arguments arguments = Arguments.parse(flags);
    if (!arguments.isTrue("leader-election")) {
      throw new IllegalArgumentException("this stand-in only knows --leader-election");
    }
    DriverClient driver = new DriverClient(arguments.get("csi-address"));
    if (driver.expandsOnController() || !driver.expandsOnNode()) {
      throw new IllegalArgumentException("this stand-in is for drivers with node expansion only");
    }
    String name = driver.name();
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      ResizerStandIn resizer = new ResizerStandIn(client, name);
      client
          .leaderElector()
          .withConfig(
              new LeaderElectionConfigBuilder()
                  .withName("external-resizer")
                  .withLock(
                      new LeaseLock(
                          client.getNamespace(),
                          "external-resizer-" + name.replace('.', '-'),
                          UUID.randomUUID().toString()))
                  .withLeaseDuration(Duration.ofSeconds(15))
                  .withRenewDeadline(Duration.ofSeconds(10))
                  .withRetryPeriod(Duration.ofSeconds(2))
                  .withReleaseOnCancel(true)
                  .withLeaderCallbacks(
                      new LeaderCallbacks(
                          () -> Thread.ofPlatform().start(resizer::run),
                          // halt: kubelet starts the container again
                          () -> Runtime.getRuntime().halt(1),
                          _ -> {}))
                  .build())
          .build()
          .run();
    }
  }

  private void run() {
    System.out.println("resizing for " + driverName);
    while (true) {
      try {
        client
            .persistentVolumeClaims()
            .inAnyNamespace()
            .list()
            .getItems()
            .forEach(this::considerClaim);
        Thread.sleep(POLL_MILLIS);
      } catch (KubernetesClientException e) {
        // as the real one: said, and tried again
        System.err.println(e);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void considerClaim(PersistentVolumeClaim claim) {
    if (claim.getStatus() == null || !"Bound".equals(claim.getStatus().getPhase())) {
      return;
    }
    Quantity requested = storage(claim.getSpec().getResources().getRequests());
    PersistentVolume volume =
        client.persistentVolumes().withName(claim.getSpec().getVolumeName()).get();
    if (volume == null
        || volume.getSpec().getCsi() == null
        || !driverName.equals(volume.getSpec().getCsi().getDriver())
        || bytes(requested) <= bytes(storage(volume.getSpec().getCapacity()))) {
      return;
    }
    client
        .persistentVolumes()
        .withName(volume.getMetadata().getName())
        .patch(MERGE, "{\"spec\":{\"capacity\":{\"storage\":\"%s\"}}}".formatted(requested));
    // the role of the real one allows patches of the status only
    PersistentVolumeClaim pending = new PersistentVolumeClaim();
    pending.setMetadata(claim.getMetadata());
    pending.setSpec(claim.getSpec());
    pending.setStatus(claim.getStatus());
    pending
        .getStatus()
        .setConditions(
            List.of(
                new PersistentVolumeClaimConditionBuilder()
                    .withType("FileSystemResizePending")
                    .withStatus("True")
                    .withMessage(
                        "Waiting for user to (re-)start a pod to finish file system resize")
                    .build()));
    client.resource(pending).subresource("status").patch(MERGE);
    System.out.println("resized " + volume.getMetadata().getName() + " to " + requested);
  }

  private static Quantity storage(Map<String, Quantity> amounts) {
    return amounts.getOrDefault("storage", new Quantity("0"));
  }

  private static long bytes(Quantity quantity) {
    return quantity.getNumericalAmount().longValueExact();
  }
}
