package io.pmemcsi.driver.volume;

import java.nio.file.Path;

/** The ledger could not be read or written. */
public final class LedgerException extends RuntimeException {

  LedgerException(String doing, Path file, Exception cause) {
    super("cannot %s %s: %s".formatted(doing, file, cause), cause);
  }

  private LedgerException(String message) {
    super(message);
  }

  /** The folder that has to be there is not. */
  static LedgerException noFolder(Path folder, String wayOut) {
    return new LedgerException("there is no folder %s: %s".formatted(folder, wayOut));
  }
}
