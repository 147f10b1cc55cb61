package io.pmemcsi.driver.state;

import io.pmemcsi.base.error.Reason;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** The state directory, or a file in it, cannot be read or written. */
public final class StateException extends RuntimeException {
  public StateException(String operation, Path file, Exception cause) {
    super("cannot %s %s: %s".formatted(operation, file, Reason.of(cause)), cause);
  }

  private StateException(String message) {
    super(message);
  }

  /** Whether it failed only because the disk, or the quota of the directory, is full. */
  public boolean isDiskFull() {
    String reason = getCause() == null ? "" : String.valueOf(getCause().getMessage());
    return reason.contains("No space left on device") || reason.contains("Disk quota exceeded");
  }

  /** The directory cannot be created, although its parent exists. */
  static StateException notCreated(Path directory, IOException cause) {
    String why =
        cause instanceof NoSuchFileException
            ? "its file system does not support it"
            : Reason.of(cause);
    return new StateException(
        "cannot create the state directory %s: %s; name another one with -statePath"
            .formatted(directory, why));
  }

  /** A directory that must exist does not. */
  public static StateException missing(Path directory, String remedy) {
    return new StateException("directory %s does not exist: %s".formatted(directory, remedy));
  }

  /** Another driver holds the lock. */
  static StateException inUse(Path directory) {
    return new StateException(
        "another driver uses the state directory %s: stop it first, or name another directory with -statePath"
            .formatted(directory));
  }
}
