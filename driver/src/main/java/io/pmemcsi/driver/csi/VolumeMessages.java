package io.pmemcsi.driver.csi;

import csi.v1.ListVolumesResponse;
import csi.v1.Volume;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.volume.Origin;
import io.pmemcsi.driver.volume.VolumeRecord;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Volumes as CSI messages, which are cached: building a thousand of them for each ListVolumes takes
 * longer than sending them.
 */
final class VolumeMessages {

  private final NodeIdentity node;
  private final Map<VolumeId, Cached> messages = new ConcurrentHashMap<>();

  private record Cached(VolumeRecord from, ListVolumesResponse.Entry message) {}

  VolumeMessages(NodeIdentity node) {
    this.node = node;
  }

  Volume volume(VolumeRecord entry, OptionalInt numaNode) {
    Volume.Builder volume =
        Volume.newBuilder()
            .setVolumeId(entry.id().value())
            .setCapacityBytes(entry.sizeBytes())
            .putAllVolumeContext(entry.context(numaNode))
            .addAccessibleTopology(node.topology());
    switch (entry.origin()) {
      case Origin.CopyOfVolume(VolumeId source) ->
          volume.getContentSourceBuilder().getVolumeBuilder().setVolumeId(source.value());
      case Origin.CopyOfSnapshot(VolumeId source) ->
          volume.getContentSourceBuilder().getSnapshotBuilder().setSnapshotId(source.value());
      case Origin.Blank _, Origin.SnapshotOf _ -> {}
    }
    return volume.build();
  }

  /** The entries of a list; those of deleted volumes are dropped. */
  List<ListVolumesResponse.Entry> list(List<VolumeRecord> page, List<VolumeRecord> all) {
    if (messages.size() > all.size()) {
      Set<VolumeId> known = all.stream().map(VolumeRecord::id).collect(Collectors.toSet());
      messages.keySet().retainAll(known);
    }
    return page.stream().map(this::listed).toList();
  }

  private ListVolumesResponse.Entry listed(VolumeRecord entry) {
    return messages
        .compute(
            entry.id(),
            (_, cached) ->
                cached != null && cached.from().equals(entry)
                    ? cached
                    : new Cached(
                        entry, ControllerMessages.listed(entry.id().value(), entry.sizeBytes())))
        .message();
  }
}
