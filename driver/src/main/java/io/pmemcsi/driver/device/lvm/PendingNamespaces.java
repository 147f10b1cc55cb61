package io.pmemcsi.driver.device.lvm;

import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.OrphanedCommands;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import io.pmemcsi.driver.state.StateDirectory;
import io.pmemcsi.driver.state.StateFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Records of namespaces that are being created for a group.
 *
 * <p>The memory of a new namespace may hold an old volume group. A start that is killed before it
 * is wiped leaves something that looks like a valid group; by the record the next start knows that
 * it is not. Once it is wiped the record stays until the namespace is in its group: no other
 * namespace with something on it may be put into one.
 */
public final class PendingNamespaces {

  private static final String NOT_WIPED = "not wiped\n";
  private static final String WIPED = "wiped\n";

  /** Of a UUID; all other files were never finished, or are not owned. */
  private static final Pattern NAME = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  private final Path directory;
  private final StateFiles files;

  public PendingNamespaces(Path stateDirectory, StateFiles files) {
    this.directory = StateDirectory.Part.PENDING_NAMESPACES.in(stateDirectory);
    this.files = files;
  }

  /** Records a namespace before it is created; it has to get this UUID. */
  UUID record() {
    UUID uuid = UUID.randomUUID();
    return access(
        () -> {
          StateDirectory.createInside(directory);
          write(uuid, NOT_WIPED);
          return uuid;
        });
  }

  /** Those that are in no group yet, as far as they were created at all. */
  List<UUID> recorded() {
    return access(
        () -> {
          List<UUID> all = new ArrayList<>();
          for (String name : files.list(directory)) {
            if (NAME.matcher(name).matches()) {
              all.add(UUID.fromString(name));
            }
          }
          return all;
        });
  }

  /** Those that a command of a killed start is still creating. */
  List<UUID> beingCreated() {
    return recorded().stream()
        .filter(uuid -> OrphanedCommands.HERE.isRunningWith(Ndctl.uuidOption(uuid)))
        .toList();
  }

  /** Whether what it holds is its own already: wiping it again might cost a group a member. */
  boolean isWiped(UUID uuid) {
    return access(() -> new String(files.read(file(uuid)), StandardCharsets.UTF_8).equals(WIPED));
  }

  void wiped(UUID uuid) {
    access(
        () -> {
          write(uuid, WIPED);
          return uuid;
        });
  }

  /** It is in a group, or was never created. */
  void remove(UUID uuid) {
    access(
        () -> {
          files.delete(file(uuid));
          return uuid;
        });
  }

  private void write(UUID uuid, String state) throws IOException {
    files.write(file(uuid), state.getBytes(StandardCharsets.UTF_8));
  }

  private Path file(UUID uuid) {
    return directory.resolve(uuid.toString());
  }

  private interface FileAccess<T> {
    T run() throws IOException;
  }

  private static <T> T access(FileAccess<T> access) {
    try {
      return access.run();
    } catch (IOException e) {
      throw new DeviceException.ToolFailed("access the records of new namespaces", e);
    }
  }
}
