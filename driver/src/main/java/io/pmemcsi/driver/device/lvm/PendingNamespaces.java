package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.OrphanedCommands;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import io.pmemcsi.driver.state.StateFiles;
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
 * that it is not. Once it is wiped the note stays until the namespace is in its group: no other
 * namespace with something on it may be put into one.
 */
public final class PendingNamespaces {

  private static final String NOT_WIPED = "not wiped\n";
  private static final String WIPED = "wiped\n";

  /** Of a UUID; a longer name is that of a file which was never finished. */
  private static final int NAME_LENGTH = 36;

  private final Path folder;
  private final StateFiles files;

  public PendingNamespaces(Path stateFolder, StateFiles files) {
    this.folder = stateFolder.resolve("fresh-namespaces");
    this.files = files;
  }

  /** Notes a namespace before it is made; it has to get this UUID. */
  UUID announce() {
    UUID uuid = UUID.randomUUID();
    return noting(
        () -> {
          Files.createDirectories(folder);
          write(uuid, NOT_WIPED);
          return uuid;
        });
  }

  /** Those that are in no group yet, as far as they were made at all. */
  List<UUID> announced() {
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

  /** Those that a tool which a killed start has left is still making. */
  List<UUID> beingMade() {
    return announced().stream()
        .filter(uuid -> OrphanedCommands.HERE.isRunningWith(Ndctl.uuidOption(uuid)))
        .toList();
  }

  /** Whether what it holds is its own already: wiping it again might cost a group a member. */
  boolean isWiped(UUID uuid) {
    return noting(() -> new String(files.read(file(uuid)), StandardCharsets.UTF_8).equals(WIPED));
  }

  void wiped(UUID uuid) {
    noting(
        () -> {
          write(uuid, WIPED);
          return uuid;
        });
  }

  /** It is in a group, or was never made. */
  void forget(UUID uuid) {
    noting(
        () -> {
          files.delete(file(uuid));
          return uuid;
        });
  }

  private void write(UUID uuid, String state) throws IOException {
    files.write(file(uuid), state.getBytes(StandardCharsets.UTF_8));
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
