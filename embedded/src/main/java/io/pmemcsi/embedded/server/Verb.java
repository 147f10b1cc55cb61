package io.pmemcsi.embedded.server;

/** What a client may do with a resource. */
public enum Verb {
  GET,
  LIST,
  WATCH,
  CREATE,
  UPDATE,
  PATCH,
  DELETE,
  DELETECOLLECTION;

  /** Whether it changes anything. */
  public boolean writes() {
    return switch (this) {
      case GET, LIST, WATCH -> false;
      case CREATE, UPDATE, PATCH, DELETE, DELETECOLLECTION -> true;
    };
  }
}
