package io.pmemcsi.operator.apply;

/** An object of a wanted name turned out to belong to somebody else. */
public final class NotOwnedException extends RuntimeException {

  private final transient ObjectRef object;

  public NotOwnedException(ObjectRef object) {
    super(object + " exists and is not ours");
    this.object = object;
  }

  public ObjectRef object() {
    return object;
  }
}
