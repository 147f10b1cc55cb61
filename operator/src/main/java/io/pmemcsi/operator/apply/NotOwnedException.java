package io.pmemcsi.operator.apply;

/** An object with a desired name exists, but the owner does not own it. */
final class NotOwnedException extends RuntimeException {

  private final transient ObjectRef object;

  NotOwnedException(ObjectRef object) {
    super(object + " exists and is not owned by this resource");
    this.object = object;
  }

  ObjectRef object() {
    return object;
  }
}
