package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.state.StateDirectory;
import io.pmemcsi.driver.state.StateException;
import io.pmemcsi.driver.state.StateFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Notes about filesystems that this driver freezes. By the note that a killed driver left the next
 * start knows that it has to thaw: a filesystem that a backup tool has frozen stays frozen.
 */
public final class PendingFreezes {

  private final Path directory;
  private final StateFiles files;

  public PendingFreezes(Path stateDirectory, StateFiles files) {
    this.directory = StateDirectory.Part.PENDING_FREEZES.in(stateDirectory);
    this.files = files;
  }

  /** Records a volume before its filesystem is frozen. */
  void record(VolumeId id) {
    StateDirectory.createInside(directory);
    try {
      files.write(file(id), new byte[0]);
    } catch (IOException e) {
      throw new StateException("write", file(id), e);
    }
  }

  /** The volumes whose filesystems may be frozen. */
  List<VolumeId> recorded() {
    try {
      return files.list(directory).stream().map(VolumeId::parse).flatMap(Optional::stream).toList();
    } catch (IOException e) {
      throw new StateException("list", directory, e);
    }
  }

  /** The filesystem is thawed, or was not frozen by this driver. */
  void remove(VolumeId id) {
    try {
      files.delete(file(id));
    } catch (IOException e) {
      throw new StateException("delete", file(id), e);
    }
  }

  private Path file(VolumeId id) {
    return directory.resolve(id.value());
  }
}
