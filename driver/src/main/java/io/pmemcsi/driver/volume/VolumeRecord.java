package io.pmemcsi.driver.volume;

import io.pmemcsi.driver.device.VolumeId;
import java.util.Map;

/** All that the ledger knows of one volume: its entry, and the state of its device. */
public record VolumeRecord(
    VolumeId id, long sizeBytes, VolumeParameters parameters, VolumeState state) {
  public VolumeRecord {
    if (sizeBytes < 0) {
      throw new IllegalArgumentException("a volume cannot have %d bytes".formatted(sizeBytes));
    }
  }

  /** The same volume with the size that its device really has. */
  public VolumeRecord withSize(long bytes) {
    return new VolumeRecord(id, bytes, parameters, state);
  }

  /** The same volume after a change of its device. */
  public VolumeRecord withState(VolumeState now) {
    return new VolumeRecord(id, sizeBytes, parameters, now);
  }

  /** The name in the CreateVolume request. */
  public String name() {
    return parameters.name();
  }

  public boolean isEphemeral() {
    return parameters.ephemeral();
  }

  /** The volume context of CSI. */
  public Map<String, String> context() {
    return parameters.toContext();
  }
}
