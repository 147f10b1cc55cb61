package io.pmemcsi.embedded.patch;

/** A patch that does not fit the object or is not well-formed. */
public final class InvalidPatchException extends RuntimeException {
  /** What the client should have done better. */
  public enum Kind {
    /** The patch itself is no patch. */
    MALFORMED,
    /** It is one, but cannot be applied to this object. */
    UNAPPLICABLE
  }

  private final Kind kind;

  InvalidPatchException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }
}
