package io.pmemcsi.controller.volume;

/** The needs of a pod cannot be determined, for example because a claim does not exist yet. */
public final class UnknownNeedException extends Exception {
  private static final long serialVersionUID = 1;

  UnknownNeedException(String message) {
    super(message);
  }
}
