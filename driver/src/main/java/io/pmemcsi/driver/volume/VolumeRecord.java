package io.pmemcsi.driver.volume;

import io.pmemcsi.driver.device.VolumeId;
import java.util.Map;
import java.util.OptionalInt;

/**
 * All that the ledger knows of one volume, or of one snapshot: its entry, the state of its device,
 * and where its content comes from.
 */
public record VolumeRecord(
    VolumeId id, long sizeBytes, VolumeParameters parameters, VolumeState state, Origin origin) {
  public VolumeRecord {
    if (sizeBytes < 0) {
      throw new IllegalArgumentException("a volume cannot have %d bytes".formatted(sizeBytes));
    }
  }

  /** A volume that was created blank. */
  public VolumeRecord(VolumeId id, long sizeBytes, VolumeParameters parameters, VolumeState state) {
    this(id, sizeBytes, parameters, state, new Origin.Blank());
  }

  /** The same volume with the size that its device really has. */
  public VolumeRecord withSize(long bytes) {
    return new VolumeRecord(id, bytes, parameters, state, origin);
  }

  /** The same volume after a change of its device. */
  public VolumeRecord withState(VolumeState now) {
    return new VolumeRecord(id, sizeBytes, parameters, now, origin);
  }

  /** The same volume with another content. */
  public VolumeRecord withOrigin(Origin now) {
    return new VolumeRecord(id, sizeBytes, parameters, state, now);
  }

  /** The name in the CreateVolume request. */
  public String name() {
    return parameters.name();
  }

  /** Whether this is a snapshot, which no call for volumes may touch. */
  public boolean isSnapshot() {
    return origin instanceof Origin.SnapshotOf;
  }

  /** Whether it was created completely, and its deletion has not begun. */
  public boolean isComplete() {
    return !(state instanceof VolumeState.Creating) && !(state instanceof VolumeState.Deleting);
  }

  /**
   * Whether its memory must be erased even if it was never published: that of a copy may hold the
   * data of its source, that of others what it held before.
   */
  public boolean isErasedUnpublished() {
    return parameters.eraseAfter() && !(origin instanceof Origin.Blank);
  }

  public boolean isEphemeral() {
    return parameters.ephemeral();
  }

  /** The volume context of CSI, with the NUMA node that the volume is on. */
  public Map<String, String> context(OptionalInt numaNode) {
    return parameters.toContext(numaNode);
  }
}
