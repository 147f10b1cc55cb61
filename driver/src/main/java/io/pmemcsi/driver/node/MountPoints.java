package io.pmemcsi.driver.node;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.volume.VolumeException;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Creates and removes the files and directories that volumes are mounted on. */
final class MountPoints {
  private MountPoints() {}

  /** Creates a directory in a parent that the caller has to provide. */
  static void createDirectory(Path directory) {
    try {
      Files.createDirectory(
          directory,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(directory)) {
        throw new VolumeException.InvalidRequest("%s is not a directory".formatted(directory));
      }
    } catch (IOException e) {
      throw failed("create the directory", directory, e);
    }
  }

  /** Creates a file that a device node can be mounted on. */
  static void createFile(Path file) {
    try {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--")));
    } catch (FileAlreadyExistsException e) {
      if (Files.isDirectory(file)) {
        throw new VolumeException.InvalidRequest("%s is a directory, not a file".formatted(file));
      }
    } catch (IOException e) {
      throw failed("create the file", file, e);
    }
  }

  /** Removes a mount point; never anything that holds data. */
  static void remove(Path path) {
    try {
      if (Files.isRegularFile(path) && Files.size(path) > 0) {
        throw new VolumeException.PreconditionFailed(
            "%s is a file with content: it is not removed".formatted(path));
      }
      Files.deleteIfExists(path);
    } catch (DirectoryNotEmptyException e) {
      throw new VolumeException.PreconditionFailed(
          "%s is not empty although nothing is mounted there: it is not removed".formatted(path));
    } catch (NoSuchFileException e) {
      // a parent does not exist either: fine
    } catch (IOException e) {
      throw failed("remove", path, e);
    }
  }

  private static VolumeException failed(String operation, Path path, IOException e) {
    String why =
        e instanceof NoSuchFileException
            ? "directory %s does not exist, the caller has to create it".formatted(path.getParent())
            : Reason.of(e);
    return new VolumeException.Failed("cannot %s %s: %s".formatted(operation, path, why));
  }
}
