package io.pmemcsi.operator.apply;

/** The API server rejects a change of an immutable field. */
final class ImmutableFieldException extends RuntimeException {

  ImmutableFieldException(ObjectRef object, Throwable cause) {
    super(object + " has an immutable field and must be recreated: " + cause.getMessage(), cause);
  }
}
