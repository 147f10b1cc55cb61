package io.pmemcsi.driver.node;

import io.grpc.Status;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.csi.CsiStatusException;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Makes and removes the places where volumes are mounted. */
final class Paths {

  private Paths() {}

  /** A folder, in a parent that the caller has to provide. */
  static void makeFolder(Path folder) {
    try {
      Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(folder)) {
        throw CsiStatusException.invalid("%s is not a folder".formatted(folder));
      }
    } catch (IOException e) {
      throw failed("make the folder", folder, e);
    }
  }

  /** A file that a device node can be mounted on. */
  static void makeFile(Path file) {
    try {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--")));
    } catch (FileAlreadyExistsException e) {
      if (Files.isDirectory(file)) {
        throw CsiStatusException.invalid("%s is a folder, not a file".formatted(file));
      }
    } catch (IOException e) {
      throw failed("make the file", file, e);
    }
  }

  /** Removes a mount point; never anything that holds data. */
  static void remove(Path path) {
    try {
      if (Files.isRegularFile(path) && Files.size(path) > 0) {
        throw CsiStatusException.precondition(
            "%s is a file with content: it is left alone".formatted(path));
      }
      Files.deleteIfExists(path);
    } catch (DirectoryNotEmptyException e) {
      throw CsiStatusException.precondition(
          "%s is not empty although nothing is mounted there: it is left alone".formatted(path));
    } catch (NoSuchFileException e) {
      // a parent is gone, too: fine
    } catch (IOException e) {
      throw failed("remove", path, e);
    }
  }

  private static CsiStatusException failed(String doing, Path path, IOException e) {
    String why =
        e instanceof NoSuchFileException
            ? "there is no folder %s, which the caller has to make".formatted(path.getParent())
            : Reason.of(e);
    return new CsiStatusException(
        Status.Code.INTERNAL, "cannot %s %s: %s".formatted(doing, path, why));
  }
}
