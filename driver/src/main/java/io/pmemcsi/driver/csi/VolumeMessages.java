package io.pmemcsi.driver.csi;

import csi.v1.ListVolumesResponse;
import csi.v1.Volume;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.volume.VolumeRecord;
import java.util.List;
import java.util.Map;
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

  Volume volume(VolumeRecord entry) {
    return Volume.newBuilder()
        .setVolumeId(entry.id().value())
        .setCapacityBytes(entry.sizeBytes())
        .putAllVolumeContext(entry.context())
        .addAccessibleTopology(node.topology())
        .build();
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
                    : new Cached(entry, inList(entry)))
        .message();
  }

  /**
   * ID and capacity, as in the original: callers compare IDs, and a node with many volumes must
   * respond quickly.
   */
  private static ListVolumesResponse.Entry inList(VolumeRecord entry) {
    return ListVolumesResponse.Entry.newBuilder()
        .setVolume(
            Volume.newBuilder().setVolumeId(entry.id().value()).setCapacityBytes(entry.sizeBytes()))
        .build();
  }
}
