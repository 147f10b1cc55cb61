package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.volume.Origin;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.VolumeRecord;
import java.util.Optional;

/** Creates volumes with the content of a snapshot or of another volume. */
public final class VolumeCloner {
  private final Volumes volumes;
  private final VolumeCreator creator;
  private final ContentCopier copier;

  public VolumeCloner(Volumes volumes, VolumeCreator creator, ContentCopier copier) {
    this.volumes = volumes;
    this.creator = creator;
    this.copier = copier;
  }

  /** Creates a volume with the content of a snapshot. */
  public VolumeRecord ofSnapshot(
      String name, SizeRange size, VolumeParameters parameters, String snapshotId) {
    return create(
        name,
        size,
        parameters,
        VolumeId.parse(snapshotId)
            .<Origin>map(Origin.CopyOfSnapshot::new)
            .orElseThrow(() -> missing("snapshot", snapshotId)));
  }

  /** Creates a volume with the content of another one. */
  public VolumeRecord ofVolume(
      String name, SizeRange size, VolumeParameters parameters, String volumeId) {
    return create(
        name,
        size,
        parameters,
        VolumeId.parse(volumeId)
            .<Origin>map(Origin.CopyOfVolume::new)
            .orElseThrow(() -> missing("volume", volumeId)));
  }

  private VolumeRecord create(
      String name, SizeRange size, VolumeParameters parameters, Origin origin) {
    return volumes.withName(
        name,
        lookup ->
            lookup instanceof Lookup.Known(VolumeRecord existing) && existing.isComplete()
                // the source may have been deleted since
                ? creator.require(
                    existing, new VolumeCreator.Request(name, size, parameters, origin))
                : volumes.withSource(
                    sourceId(origin),
                    source -> copy(lookup, name, size, parameters, origin, source)));
  }

  private VolumeRecord copy(
      Lookup lookup,
      String name,
      SizeRange size,
      VolumeParameters parameters,
      Origin origin,
      Optional<VolumeRecord> found) {
    boolean snapshot = origin instanceof Origin.CopyOfSnapshot;
    VolumeRecord source =
        found
            .filter(record -> record.isSnapshot() == snapshot && record.isComplete())
            .orElseThrow(() -> missing(snapshot ? "snapshot" : "volume", sourceId(origin).value()));
    CopyRules.requireCopyable(source);
    return creator.create(
        lookup,
        new VolumeCreator.Request(
            name, CopyRules.size(source, size), CopyRules.parameters(parameters), origin),
        (device, manager) -> copier.copy(source, device, manager));
  }

  private static VolumeId sourceId(Origin origin) {
    return switch (origin) {
      case Origin.CopyOfSnapshot(VolumeId source) -> source;
      case Origin.CopyOfVolume(VolumeId source) -> source;
      case Origin.SnapshotOf _, Origin.Blank _ ->
          throw new IllegalArgumentException("not a copy of a volume: " + origin);
    };
  }

  private static VolumeException missing(String kind, String id) {
    return new VolumeException.NotFound(
        "volume_content_source: %s \"%s\" does not exist on this node: volumes can only be copied where they are"
            .formatted(kind, id));
  }
}
