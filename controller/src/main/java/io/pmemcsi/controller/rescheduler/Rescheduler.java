package io.pmemcsi.controller.rescheduler;

import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.controller.cluster.ClusterCache;
import io.pmemcsi.controller.volume.Claim;
import io.pmemcsi.controller.volume.VolumeClass;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the claims that wait for a volume and asks the scheduler to choose again for those whose
 * node has no driver. With provisioning on each node no provisioner would ever act on them. Run it
 * in one process at a time: {@link ElectedRescheduler}.
 */
public final class Rescheduler {

  /** How often claims are checked. One has to wait through a whole period before it counts. */
  public static final Duration PERIOD = Duration.ofSeconds(5);

  private static final Logger LOG = LoggerFactory.getLogger(Rescheduler.class);

  private final KubernetesClient client;
  private final ClusterCache cache;
  private final Supplier<List<DriverNodes>> drivers;
  private final Runnable onRescheduled;
  private final Clock clock;
  private Map<String, Claim> waitedBefore = Map.of();

  /**
   * @param onRescheduled called for each claim that was changed
   */
  public Rescheduler(
      KubernetesClient client,
      ClusterCache cache,
      Supplier<List<DriverNodes>> drivers,
      Runnable onRescheduled,
      Clock clock) {
    this.client = client;
    this.cache = cache;
    this.drivers = drivers;
    this.onRescheduled = onRescheduled;
    this.clock = clock;
  }

  /** Checks all claims once. */
  public void check() {
    Map<String, Claim> waiting = new HashMap<>();
    cache.forEachWaiting(waiting::put);
    Map<String, Claim> waited = new HashMap<>(waiting);
    waited.entrySet().removeIf(claim -> !claim.getValue().equals(waitedBefore.get(claim.getKey())));
    waitedBefore = waiting;
    if (waited.isEmpty()) {
      return;
    }
    Map<String, DriverNodes> byName = new HashMap<>();
    drivers.get().forEach(driver -> byName.put(driver.driver().value(), driver));
    // one check per node and driver, however many claims wait there
    var verdicts = new HashMap<String, Boolean>();
    waited.forEach(
        (key, claim) ->
            cache
                .volumeClass(claim.className())
                .map(VolumeClass::provisioner)
                .map(byName::get)
                .filter(
                    driver ->
                        verdicts.computeIfAbsent(
                            claim.selectedNode() + " " + driver.driver(),
                            _ -> needsAnotherNode(claim.selectedNode(), driver)))
                .ifPresent(_ -> reschedule(key, claim)));
  }

  private boolean needsAnotherNode(String node, DriverNodes driver) {
    try {
      CSINode csiNode = client.storage().v1().csiNodes().withName(node).get();
      boolean listed =
          csiNode != null
              && csiNode.getSpec() != null
              && csiNode.getSpec().getDrivers() != null
              && csiNode.getSpec().getDrivers().stream()
                  .anyMatch(one -> driver.driver().value().equals(one.getName()));
      if (listed) {
        return false;
      }
      Node object = client.nodes().withName(node).get();
      Map<String, String> labels = object == null ? null : object.getMetadata().getLabels();
      return StuckClaim.needsAnotherNode(
          false, labels == null ? Map.of() : labels, driver.nodeSelector());
    } catch (KubernetesClientException e) {
      LOG.atWarn()
          .addKeyValue("node", node)
          .addKeyValue("cause", Reason.of(e))
          .log("Node was not checked and is checked again.");
      return false;
    }
  }

  private void reschedule(String key, Claim claim) {
    String namespace = key.substring(0, key.indexOf('/'));
    String name = key.substring(key.indexOf('/') + 1);
    try {
      PersistentVolumeClaim changed =
          client
              .persistentVolumeClaims()
              .inNamespace(namespace)
              .withName(name)
              .patch(PatchContext.of(PatchType.JSON), removal(claim.selectedNode()));
      String message =
          "reschedule PVC %s because it is assigned to node %s which has no PMEM-CSI driver"
              .formatted(key, claim.selectedNode());
      LOG.atInfo()
          .addKeyValue("claim", key)
          .addKeyValue("node", claim.selectedNode())
          .log("Claim was rescheduled: its node has no PMEM-CSI driver.");
      onRescheduled.run();
      writeEvent(changed, message);
    } catch (KubernetesClientException e) {
      LOG.atWarn()
          .addKeyValue("claim", key)
          .addKeyValue("cause", Reason.of(e))
          .log("Claim was not rescheduled.");
    }
  }

  /** Fails where the scheduler has chosen another node in the meantime. */
  private static String removal(String node) {
    String path = "/metadata/annotations/volume.kubernetes.io~1selected-node";
    return """
    [{"op": "test", "path": "%s", "value": "%s"}, {"op": "remove", "path": "%s"}]"""
        .formatted(path, node, path);
  }

  private void writeEvent(PersistentVolumeClaim claim, String message) {
    String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    client
        .v1()
        .events()
        .inNamespace(claim.getMetadata().getNamespace())
        .resource(
            new EventBuilder()
                .withNewMetadata()
                .withGenerateName(claim.getMetadata().getName() + ".")
                .withNamespace(claim.getMetadata().getNamespace())
                .endMetadata()
                .withType("Warning")
                .withReason("ProvisioningFailed")
                .withMessage(message)
                .withNewSource()
                .withComponent("pmem-csi-controller")
                .endSource()
                .withFirstTimestamp(now)
                .withLastTimestamp(now)
                .withCount(1)
                .withNewInvolvedObject()
                .withApiVersion("v1")
                .withKind("PersistentVolumeClaim")
                .withNamespace(claim.getMetadata().getNamespace())
                .withName(claim.getMetadata().getName())
                .withUid(claim.getMetadata().getUid())
                .withResourceVersion(claim.getMetadata().getResourceVersion())
                .endInvolvedObject()
                .build())
        .create();
  }
}
