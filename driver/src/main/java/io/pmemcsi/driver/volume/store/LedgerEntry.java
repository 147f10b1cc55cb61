package io.pmemcsi.driver.volume.store;

import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.volume.VolumeParameters;
import java.util.Map;

/** What the ledger knows of one volume. */
public record LedgerEntry(VolumeId id, long sizeBytes, VolumeParameters parameters) {

  public LedgerEntry {
    if (sizeBytes < 0) {
      throw new IllegalArgumentException("a volume cannot have %d bytes".formatted(sizeBytes));
    }
  }

  /** The same with the size that the device really has. */
  public LedgerEntry withSize(long bytes) {
    return new LedgerEntry(id, bytes, parameters);
  }

  /** The name by which the caller of CSI asked for the volume. */
  public String name() {
    return parameters.name();
  }

  /** As callers of CSI see it. */
  public Map<String, String> context() {
    return parameters.toContext();
  }
}
