package io.pmemcsi.driver.volume;

import io.pmemcsi.base.error.Reason;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** The ledger could not be read or written. */
public final class LedgerException extends RuntimeException {

  LedgerException(String doing, Path file, Exception cause) {
    super("cannot %s %s: %s".formatted(doing, file, Reason.of(cause)), cause);
  }

  private LedgerException(String message) {
    super(message);
  }

  /** The state folder cannot be made, although there is a folder for it. */
  static LedgerException notMade(Path folder, IOException cause) {
    String why =
        cause instanceof NoSuchFileException ? "its file system takes none" : Reason.of(cause);
    return new LedgerException(
        "cannot make the state folder %s: %s; name another one with -statePath"
            .formatted(folder, why));
  }

  /** The folder that has to be there is not. */
  static LedgerException noFolder(Path folder, String wayOut) {
    return new LedgerException("there is no folder %s: %s".formatted(folder, wayOut));
  }

  /** Somebody else has the folder. */
  static LedgerException inUse(Path folder) {
    return new LedgerException(
        "another driver uses the state folder %s: stop it first, or name another folder with -statePath"
            .formatted(folder));
  }
}
