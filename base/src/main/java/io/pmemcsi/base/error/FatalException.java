package io.pmemcsi.base.error;

/** The program cannot start or continue: it ends with exit code 1. */
public final class FatalException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /**
   * @param message one line that says what was wrong, with the value, and what to do
   */
  public FatalException(String message) {
    super(message);
  }

  public FatalException(String message, Throwable cause) {
    super(message, cause);
  }
}
