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
 * Volumes in the words of CSI. They are made once: putting together a thousand of them for each
 * ListVolumes takes longer than sending them.
 */
final class VolumeMessages {

  private final NodeIdentity node;
  private final Map<VolumeId, Made> messages = new ConcurrentHashMap<>();

  private record Made(VolumeRecord from, ListVolumesResponse.Entry message) {}

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

  /** The entries of a list; those of volumes that are gone are forgotten. */
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
            (_, made) ->
                made != null && made.from().equals(entry) ? made : new Made(entry, inList(entry)))
        .message();
  }

  /**
   * Id and capacity, as the original told them: whoever lists volumes wants to know which there
   * are, and a node that is full of them is to say so quickly.
   */
  private static ListVolumesResponse.Entry inList(VolumeRecord entry) {
    return ListVolumesResponse.Entry.newBuilder()
        .setVolume(
            Volume.newBuilder().setVolumeId(entry.id().value()).setCapacityBytes(entry.sizeBytes()))
        .build();
  }
}
