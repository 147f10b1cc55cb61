package io.pmemcsi.embedded.server;

/** What a client requests for a resource. */
public enum Verb {
  GET,
  LIST,
  WATCH,
  CREATE,
  UPDATE,
  PATCH,
  DELETE;

  /** Whether it changes objects. */
  public boolean writes() {
    return switch (this) {
      case GET, LIST, WATCH -> false;
      case CREATE, UPDATE, PATCH, DELETE -> true;
    };
  }
}
