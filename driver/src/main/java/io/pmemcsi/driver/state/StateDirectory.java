package io.pmemcsi.driver.state;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The directory that holds everything the driver must not lose. In device mode {@code file} it also
 * holds what users write to their volumes, so no other user of the node may read it.
 */
public final class StateDirectory {
  private static final Set<PosixFilePermission> DIRECTORY =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");

  private StateDirectory() {}

  /** The directories in a state directory. */
  public enum Part {
    /** What was ever put on the devices of volumes. */
    CONTENTS("contents"),
    /** The image files of device mode {@code file}. */
    DEVICES("devices"),
    /** Where Kata volumes themselves are mounted. */
    KATA_MOUNTS("mount"),
    /** Records of earlier releases about bind mounts. */
    PENDING_MOUNTS("unfinished"),
    /** Bind mounts for a moment, on older kernels. */
    INTERMEDIATE_MOUNTS("binding"),
    /** Records of namespaces that are not in their volume group yet. */
    PENDING_NAMESPACES("fresh-namespaces"),
    /** Records of file systems that are frozen for a copy. */
    PENDING_FREEZES("freezing");

    private final String name;

    Part(String name) {
      this.name = name;
    }

    public Path in(Path stateDirectory) {
      return stateDirectory.resolve(name);
    }
  }

  /** The attribute of a new file that only the driver may read. */
  public static FileAttribute<Set<PosixFilePermission>> ownerOnly() {
    return PosixFilePermissions.asFileAttribute(FILE);
  }

  /** Creates the directory where its parent exists. */
  public static void create(Path directory) {
    Path parent = directory.toAbsolutePath().getParent();
    if (parent != null && !Files.isDirectory(parent)) {
      throw StateException.missing(
          parent, "create it for the state directory, or name another one with -statePath");
    }
    createInside(directory);
  }

  /** Creates a directory in one that exists. */
  public static void createInside(Path directory) {
    try {
      if (!Files.isDirectory(directory)) {
        Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(DIRECTORY));
      }
    } catch (IOException e) {
      throw StateException.notCreated(directory, e);
    }
  }

  /**
   * Keeps other users of the node out of a state directory: kubelet creates it for all to read, and
   * so did earlier releases with what is in it. Links are not followed, and what is mounted in it
   * belongs to volumes.
   */
  public static void restrict(Path directory) {
    restrict(directory, DIRECTORY);
    restrictFiles(directory);
    for (Part part : Part.values()) {
      Path there = part.in(directory);
      if (Files.isDirectory(there, NOFOLLOW_LINKS)) {
        restrict(there, DIRECTORY);
        restrictFiles(there);
      }
    }
  }

  private static void restrictFiles(Path directory) {
    try (Stream<Path> all = Files.list(directory)) {
      all.filter(file -> Files.isRegularFile(file, NOFOLLOW_LINKS))
          .forEach(file -> restrict(file, FILE));
    } catch (IOException e) {
      throw new StateException("list", directory, e);
    }
  }

  private static void restrict(Path path, Set<PosixFilePermission> permissions) {
    try {
      if (!Files.getPosixFilePermissions(path, NOFOLLOW_LINKS).equals(permissions)) {
        Files.setPosixFilePermissions(path, permissions);
      }
    } catch (NoSuchFileException e) {
      // removed since it was listed
    } catch (IOException e) {
      throw new StateException("keep other users out of", path, e);
    }
  }
}
