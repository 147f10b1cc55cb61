package io.pmemcsi.operator.tools.status;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.api.model.storage.CSINodeDriver;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A node on which the driver runs, is registered or has volumes.
 *
 * @param used bytes of its volumes and snapshots
 * @param free bytes for new volumes; null where neither CSIStorageCapacity nor metrics say it
 * @param largest the largest volume that can be created, in bytes
 */
public record NodeReport(
    String node, State state, long used, @Nullable Long free, @Nullable Long largest) {

  /** Whether the driver can be used on a node. */
  public enum State {
    @JsonProperty("Registered")
    REGISTERED,
    /** The driver runs there, or has volumes there, but kubelet does not know it. */
    @JsonProperty("NotRegistered")
    NOT_REGISTERED,
    /** The node does not exist any more. */
    @JsonProperty("Lost")
    LOST
  }

  static List<NodeReport> of(
      ResourceStatus resource,
      DriverPods driverPods,
      List<VolumeReport> volumes,
      List<SnapshotReport> snapshots,
      ClusterData cluster) {
    String driver = resource.driver();
    Set<String> registered =
        cluster.nodes().stream()
            .filter(node -> registered(node, driver))
            .map(node -> node.getMetadata().getName())
            .collect(Collectors.toSet());
    Set<String> lost =
        Fields.entries(resource.resource(), "status", "lostNodes").stream()
            .map(node -> Fields.text(node, "node"))
            .collect(Collectors.toSet());
    return used(registered, driverPods, volumes, snapshots).entrySet().stream()
        .map(
            entry ->
                new NodeReport(
                    entry.getKey(),
                    state(entry.getKey(), registered, lost),
                    entry.getValue(),
                    capacity(
                        published(entry.getKey(), driver, "capacity", cluster),
                        driverPods.metrics(entry.getKey(), cluster).map(NodeMetrics::available)),
                    capacity(
                        published(entry.getKey(), driver, "maximumVolumeSize", cluster),
                        driverPods
                            .metrics(entry.getKey(), cluster)
                            .map(NodeMetrics::maxVolumeSize))))
        .toList();
  }

  /** Without a class, or on a server without that API, nothing is published. */
  private static @Nullable Long capacity(@Nullable Long published, Optional<Long> measured) {
    return published == null ? measured.orElse(null) : published;
  }

  private static Map<String, Long> used(
      Set<String> registered,
      DriverPods driverPods,
      List<VolumeReport> volumes,
      List<SnapshotReport> snapshots) {
    Map<String, Long> used = new TreeMap<>();
    registered.forEach(node -> used.put(node, 0L));
    driverPods.nodes().forEach(node -> used.put(node, 0L));
    volumes.stream()
        .filter(VolumeReport::exists)
        .filter(volume -> !volume.node().isEmpty())
        .forEach(volume -> used.merge(volume.node(), volume.bytes(), Long::sum));
    snapshots.stream()
        .filter(snapshot -> !snapshot.node().isEmpty())
        .forEach(snapshot -> used.merge(snapshot.node(), snapshot.bytes(), Long::sum));
    return used;
  }

  private static State state(String node, Set<String> registered, Set<String> lost) {
    if (registered.contains(node)) {
      return State.REGISTERED;
    }
    return lost.contains(node) ? State.LOST : State.NOT_REGISTERED;
  }

  /** What a human must do about it; lost nodes have a condition. */
  Optional<String> problem(DriverPods driverPods) {
    if (state != State.NOT_REGISTERED) {
      return Optional.empty();
    }
    return Optional.of(
        driverPods
            .on(node)
            .map(
                pod ->
                    "The driver is not registered on node %s: check its pod %s"
                        .formatted(node, pod))
            .orElseGet(
                () ->
                    ("Node %s has volumes, but the driver does not run there: they cannot be used"
                            + " or deleted")
                        .formatted(node)));
  }

  private static boolean registered(CSINode node, String driver) {
    return node.getSpec() != null
        && node.getSpec().getDrivers() != null
        && node.getSpec().getDrivers().stream()
            .map(CSINodeDriver::getName)
            .anyMatch(driver::equals);
  }

  /** There is one object for each class of the driver; all describe the same memory. */
  private static @Nullable Long published(
      String node, String driver, String field, ClusterData cluster) {
    Set<String> classes =
        cluster.classes().stream()
            .filter(storageClass -> driver.equals(storageClass.getProvisioner()))
            .map(StorageClass::getMetadata)
            .map(metadata -> metadata.getName())
            .collect(Collectors.toSet());
    return cluster.capacities().stream()
        .filter(capacity -> classes.contains(Fields.text(capacity.get("storageClassName"))))
        .filter(capacity -> node.equals(nodeOf(capacity, driver)))
        .map(capacity -> Fields.text(capacity.get(field)))
        .filter(value -> !value.isEmpty())
        .map(Fields::bytes)
        .max(Comparator.naturalOrder())
        .orElse(null);
  }

  private static String nodeOf(GenericKubernetesResource capacity, String driver) {
    return Fields.text(
        Fields.object(capacity, "nodeTopology", "matchLabels"), VolumeReport.topologyKey(driver));
  }
}
