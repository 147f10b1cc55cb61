package io.pmemcsi.operator.tools.status;

import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Work on a driver that takes long: an update of its nodes, volumes of lost nodes, volumes that are
 * erased or expanded, snapshots that are copied.
 */
record LongWork(
    ResourceStatus resource,
    DriverPods driverPods,
    List<VolumeReport> volumes,
    List<SnapshotReport> snapshots,
    ClusterData cluster) {

  List<String> progress() {
    return Stream.of(nodeUpdate(), lostNodes(), deletions(), expansions(), copies())
        .flatMap(List::stream)
        .toList();
  }

  /** What stops the work. */
  List<String> problems() {
    var problems = new ArrayList<String>();
    Map<?, ?> update = update();
    if (Boolean.TRUE.equals(update.get("paused"))) {
      problems.add("The update of the nodes is paused: " + Fields.text(update, "message"));
    }
    snapshots.stream()
        .filter(snapshot -> !snapshot.error().isEmpty())
        .map(snapshot -> "Snapshot %s: %s".formatted(snapshot.name(), snapshot.error()))
        .forEach(problems::add);
    return problems;
  }

  private Map<?, ?> update() {
    return Fields.object(resource.resource(), "status", "nodeUpdate");
  }

  private List<String> nodeUpdate() {
    Map<?, ?> update = update();
    long nodes = Fields.number(update, "nodes");
    long updated = Fields.number(update, "updatedNodes");
    if (updated >= nodes) {
      return List.of();
    }
    var lines = new ArrayList<String>();
    lines.add(
        "%d of %d nodes are updated%s"
            .formatted(updated, nodes, suffix(Fields.text(update, "message"))));
    Fields.entries(update, "outdated").stream()
        .filter(node -> !Fields.text(node, "step").isEmpty())
        .map(
            node ->
                "Node %s: %s%s%s"
                    .formatted(
                        Fields.text(node, "node"),
                        Fields.text(node, "step"),
                        since(Fields.text(node, "since")),
                        suffix(Fields.text(node, "message"))))
        .forEach(lines::add);
    return lines;
  }

  private List<String> lostNodes() {
    return Fields.entries(resource.resource(), "status", "lostNodes").stream()
        .map(
            node ->
                "Node %s does not exist%s: %d volumes, %d claims and %d pods are left"
                    .formatted(
                        Fields.text(node, "node"),
                        since(Fields.text(node, "since")),
                        Fields.number(Fields.object(node, "volumes"), "count"),
                        Fields.number(Fields.object(node, "claims"), "count"),
                        Fields.number(Fields.object(node, "pods"), "count")))
        .toList();
  }

  private List<String> deletions() {
    return volumes.stream()
        .filter(VolumeReport::isBeingDeleted)
        .map(
            volume ->
                "Volume %s (%s)%s is being erased and deleted%s%s"
                    .formatted(
                        volume.name(),
                        TextReport.size(volume.bytes()),
                        volume.node().isEmpty() ? "" : " on node " + volume.node(),
                        since(volume.since()),
                        erased(volume)))
        .toList();
  }

  /** Only the driver knows how far it is. */
  private String erased(VolumeReport volume) {
    return driverPods
        .metrics(volume.node(), cluster)
        .map(metrics -> metrics.erased().get(volume.id()))
        .map(fraction -> ": %d %% erased".formatted((int) (fraction * 100)))
        .orElse("");
  }

  private List<String> expansions() {
    return cluster.claims().stream()
        .filter(claim -> volumes.stream().anyMatch(volume -> volume.isOf(claim)))
        .filter(claim -> requested(claim) > capacity(claim) && capacity(claim) > 0)
        .map(
            claim ->
                "Claim %s is being expanded from %s to %s"
                    .formatted(
                        VolumeReport.name(claim.getMetadata()),
                        TextReport.size(capacity(claim)),
                        TextReport.size(requested(claim))))
        .toList();
  }

  private List<String> copies() {
    return snapshots.stream()
        .filter(snapshot -> !snapshot.ready() && snapshot.error().isEmpty())
        .map(
            snapshot ->
                "Snapshot %s is being copied%s"
                    .formatted(
                        snapshot.name(),
                        snapshot.volume().isEmpty() ? "" : " from volume " + snapshot.volume()))
        .toList();
  }

  private static long requested(PersistentVolumeClaim claim) {
    return Fields.bytes(VolumeReport.request(claim));
  }

  private static long capacity(PersistentVolumeClaim claim) {
    Map<String, Quantity> capacity =
        claim.getStatus() == null ? null : claim.getStatus().getCapacity();
    return capacity == null ? 0 : Fields.bytes(capacity.get("storage"));
  }

  private static String since(String time) {
    return time.isEmpty() ? "" : " since " + time;
  }

  private static String suffix(String message) {
    return message.isEmpty() ? "" : ": " + message;
  }
}
