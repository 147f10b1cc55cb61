package io.pmemcsi.embedded.http;

/** Leaves the handler, so that the HTTP server closes the connection without another byte. */
final class CutException extends RuntimeException {
  CutException() {
    super("connection cut on demand", null, false, false);
  }
}
