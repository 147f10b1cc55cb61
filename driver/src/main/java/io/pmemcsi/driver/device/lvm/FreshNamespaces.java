package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.volume.StateFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Notes about namespaces that are being made for a group.
 *
 * <p>The memory of a new namespace may hold the volume group of an earlier life. Whoever is killed
 * before it is wiped leaves something that looks like a living group; the note tells the next start
 * that it is not.
 */
public final class FreshNamespaces {

  /** Of a UUID; a longer name is that of a file which was never finished. */
  private static final int NAME_LENGTH = 36;

  private final Path folder;
  private final StateFiles files;

  public FreshNamespaces(Path stateFolder, StateFiles files) {
    this.folder = stateFolder.resolve("fresh-namespaces");
    this.files = files;
  }

  /** Notes a namespace before it is made; it has to get this UUID. */
  UUID announce() {
    UUID uuid = UUID.randomUUID();
    return noting(
        () -> {
          Files.createDirectories(folder);
          files.write(file(uuid), "not wiped\n".getBytes(StandardCharsets.UTF_8));
          return uuid;
        });
  }

  /** Those that nobody has wiped, as far as they were made at all. */
  List<UUID> notWiped() {
    return noting(
        () -> {
          List<UUID> all = new ArrayList<>();
          for (String name : files.list(folder)) {
            if (name.length() == NAME_LENGTH) {
              all.add(UUID.fromString(name));
            }
          }
          return all;
        });
  }

  void wiped(UUID uuid) {
    noting(
        () -> {
          files.delete(file(uuid));
          return uuid;
        });
  }

  private Path file(UUID uuid) {
    return folder.resolve(uuid.toString());
  }

  private interface Note<T> {
    T run() throws IOException;
  }

  private static <T> T noting(Note<T> note) {
    try {
      return note.run();
    } catch (IOException e) {
      throw new DeviceException.ToolFailed("note which namespaces are new", e);
    }
  }
}
