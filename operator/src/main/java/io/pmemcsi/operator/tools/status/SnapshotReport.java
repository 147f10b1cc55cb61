package io.pmemcsi.operator.tools.status;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A snapshot of a volume of the driver.
 *
 * @param name namespace and name of the VolumeSnapshot
 * @param bytes as many as its volume had
 * @param volume name of the PersistentVolume; empty if that was deleted
 * @param node empty as long as it is not known
 * @param error why it is not ready; usually empty
 */
public record SnapshotReport(
    String name, boolean ready, long bytes, String volume, String node, String error) {

  /** The node that takes the snapshot, written by snapshot-controller. */
  private static final String MANAGED_BY = "snapshot.storage.kubernetes.io/managed-by";

  static List<SnapshotReport> of(String driver, List<VolumeReport> volumes, ClusterData cluster) {
    Map<String, String> nodes =
        volumes.stream()
            .filter(volume -> !volume.name().isEmpty())
            .collect(Collectors.toMap(VolumeReport::name, VolumeReport::node, (a, b) -> a));
    Map<String, String> names =
        volumes.stream()
            .filter(volume -> !volume.id().isEmpty())
            .collect(Collectors.toMap(VolumeReport::id, VolumeReport::name, (a, b) -> a));
    return cluster.snapshots().stream()
        .filter(content -> driver.equals(Fields.text(content.get("spec", "driver"))))
        .map(content -> of(content, names, nodes))
        .sorted(Comparator.comparing(SnapshotReport::name))
        .toList();
  }

  private static SnapshotReport of(
      GenericKubernetesResource content, Map<String, String> names, Map<String, String> nodes) {
    Map<?, ?> reference = Fields.object(content, "spec", "volumeSnapshotRef");
    Map<?, ?> status = Fields.object(content, "status");
    String volume =
        names.getOrDefault(Fields.text(content.get("spec", "source", "volumeHandle")), "");
    String node = Fields.label(content, MANAGED_BY);
    return new SnapshotReport(
        Fields.text(reference, "namespace") + "/" + Fields.text(reference, "name"),
        Boolean.TRUE.equals(status.get("readyToUse")),
        Fields.number(status, "restoreSize"),
        volume,
        node.isEmpty() ? nodes.getOrDefault(volume, "") : node,
        Fields.text(Fields.object(status, "error"), "message"));
  }
}
