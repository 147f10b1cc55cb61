package io.pmemcsi.operator.engine;

/** The server refuses a change because the field may never change. */
public final class ImmutableFieldException extends RuntimeException {

  public ImmutableFieldException(ObjectRef object, Throwable cause) {
    super(object + " cannot be changed, only made anew: " + cause.getMessage(), cause);
  }
}
