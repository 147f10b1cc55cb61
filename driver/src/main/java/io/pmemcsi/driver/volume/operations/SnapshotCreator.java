package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.volume.Origin;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;
import java.time.Clock;

/** Creates snapshots: copies of volumes that are never published. */
public final class SnapshotCreator {
  private final Volumes volumes;
  private final VolumeCreator creator;
  private final ContentCopier copier;
  private final Clock clock;

  public SnapshotCreator(
      Volumes volumes, VolumeCreator creator, ContentCopier copier, Clock clock) {
    this.volumes = volumes;
    this.creator = creator;
    this.copier = copier;
    this.clock = clock;
  }

  /** Creates a snapshot, or returns the one that the same call has created before. */
  public VolumeRecord create(String name, String volumeId) {
    return volumes.withSnapshot(
        id(name), lookup -> create(lookup, name, volumes.resolve(volumeId)));
  }

  private VolumeRecord create(Lookup snapshot, String name, Lookup volume) {
    if (snapshot instanceof Lookup.Known(VolumeRecord existing) && existing.isComplete()) {
      if (existing.origin() instanceof Origin.SnapshotOf of && of.source().equals(volume.id())) {
        return existing;
      }
      throw new VolumeException.Incompatible(
          "snapshot \"%s\" exists, of another volume than %s".formatted(name, volume.id()));
    }
    return volumes.withSource(
        volume.require().id(),
        found -> {
          VolumeRecord source =
              found.orElseThrow(
                  () ->
                      new VolumeException.NotFound(
                          "volume \"%s\" does not exist".formatted(volume.id())));
          CopyRules.requireCopyable(source);
          return creator.create(
              snapshot,
              new VolumeCreator.Request(
                  name,
                  new SizeRange(source.sizeBytes(), 0),
                  source.parameters(),
                  new Origin.SnapshotOf(source.id(), clock.instant())),
              (device, manager) -> copier.copy(source, device, manager));
        });
  }

  /** Snapshots and volumes may have the same name. */
  static VolumeId id(String name) {
    return VolumeId.fromName("snapshot/" + name);
  }
}
