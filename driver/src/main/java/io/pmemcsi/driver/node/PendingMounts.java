package io.pmemcsi.driver.node;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.state.StateDirectory;
import io.pmemcsi.driver.state.StateFiles;
import io.pmemcsi.driver.volume.VolumeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Records that earlier releases wrote about bind mounts whose options they set in a second step. A
 * record that a killed driver left marks a mount that may lack its options.
 */
public final class PendingMounts {

  private final Path directory;
  private final StateFiles files;

  public PendingMounts(Path stateDirectory, StateFiles files) {
    this.directory = StateDirectory.Part.PENDING_MOUNTS.in(stateDirectory);
    this.files = files;
  }

  boolean isSet(Path target) {
    return Files.exists(file(target));
  }

  void clear(Path target) {
    if (!isSet(target)) {
      return;
    }
    try {
      files.delete(file(target));
    } catch (IOException e) {
      throw new VolumeException.Failed(
          "cannot remove the record of the mount at %s: %s".formatted(target, Reason.withFile(e)));
    }
  }

  private Path file(Path target) {
    // the id of a name is a file name for any text
    return directory.resolve(VolumeId.fromName(target.toString()).value());
  }
}
