package io.pmemcsi.operator.engine;

/** An object of a wanted name turned out to belong to somebody else. */
public final class ForeignObjectException extends RuntimeException {

  private final transient ObjectRef object;

  public ForeignObjectException(ObjectRef object) {
    super(object + " exists and is not ours");
    this.object = object;
  }

  public ObjectRef object() {
    return object;
  }
}
