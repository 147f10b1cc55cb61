package io.pmemcsi.base.error;

/** The command line or configuration is wrong: the program ends with exit code 2. */
public final class UsageException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /**
   * @param message one line that names the thing and the way out
   */
  public UsageException(String message) {
    super(message);
  }

  public UsageException(String message, Throwable cause) {
    super(message, cause);
  }
}
