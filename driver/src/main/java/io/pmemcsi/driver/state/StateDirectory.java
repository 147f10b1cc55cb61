package io.pmemcsi.driver.state;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** The directory that holds everything the driver must not lose. */
public final class StateDirectory {
  private StateDirectory() {}

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
        Files.createDirectory(
            directory,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-x---")));
      }
    } catch (IOException e) {
      throw StateException.notCreated(directory, e);
    }
  }
}
