package io.pmemcsi.driver.node;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.state.StateFiles;
import io.pmemcsi.driver.volume.VolumeException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Notes about mounts that take more than one step.
 *
 * <p>A bind mount gets its options in a second step. Whoever is killed between leaves a writable
 * mount where a read-only one was asked for; the note tells the next call that it is unfinished and
 * not somebody else's.
 */
public final class PendingMounts {

  /** Where the notes are, in the state folder. */
  public static final String FOLDER = "unfinished";

  private final Path folder;
  private final StateFiles files;

  public PendingMounts(Path stateFolder, StateFiles files) {
    this.folder = stateFolder.resolve(FOLDER);
    this.files = files;
  }

  void set(Path target) {
    change(
        target,
        () -> {
          Files.createDirectories(folder);
          files.write(file(target), target.toString().getBytes(StandardCharsets.UTF_8));
        });
  }

  boolean isSet(Path target) {
    return Files.exists(file(target));
  }

  void clear(Path target) {
    change(target, () -> files.delete(file(target)));
  }

  private Path file(Path target) {
    // the id of a name is a file name for any text
    return folder.resolve(VolumeId.fromName(target.toString()).value());
  }

  private interface Change {
    void run() throws IOException;
  }

  private static void change(Path target, Change change) {
    try {
      change.run();
    } catch (IOException e) {
      throw new VolumeException.Failed(
          "cannot note the state of %s: %s".formatted(target, Reason.withFile(e)));
    }
  }
}
