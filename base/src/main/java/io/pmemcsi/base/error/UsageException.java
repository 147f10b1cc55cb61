package io.pmemcsi.base.error;

/** Something that the user asked for cannot be done as asked: the program ends with exit code 2. */
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
