package io.pmemcsi.controller.https;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Limits the memory that request bodies take: one alone, and all that are read at the same time. A
 * client that sends much or slowly must not end the process.
 */
final class BodyBudget {

  /** Ten times what a scheduler sends for 5,000 nodes by name. */
  static final int MAX_BODY = 4 << 20;

  private static final int KIB = 1024;
  private static final int UNKNOWN_LENGTH = 64 * KIB;
  private static final int WAIT_SECONDS = 3;
  private static final int DISCARDED = 32 << 20;

  private final Semaphore kibibytes;

  BodyBudget(int totalBytes) {
    this.kibibytes = new Semaphore(totalBytes / KIB, true);
  }

  /** A body is too large, or there are too many. */
  static final class RejectedException extends Exception {
    private static final long serialVersionUID = 1;
    private final int status;

    RejectedException(int status, String message) {
      super(message);
      this.status = status;
    }

    int status() {
      return status;
    }
  }

  /** What is done with a body while it is in memory. */
  interface Use {
    void with(byte[] body) throws IOException;
  }

  /**
   * Reads a body and hands it on.
   *
   * @param length as announced by the client; negative if it was not
   */
  void read(InputStream in, long length, Use use)
      throws IOException, RejectedException, InterruptedException {
    if (length > MAX_BODY) {
      throw tooLarge();
    }
    int reserved = Math.ceilDiv(length < 0 ? UNKNOWN_LENGTH : (int) length, KIB);
    if (!kibibytes.tryAcquire(reserved, WAIT_SECONDS, TimeUnit.SECONDS)) {
      throw new RejectedException(503, "too many requests at the same time: try again");
    }
    try {
      byte[] body = in.readNBytes(length < 0 ? UNKNOWN_LENGTH : (int) length);
      if (length < 0 && in.read() >= 0) {
        throw new RejectedException(
            411, "a body of more than 64 KiB needs a Content-Length header");
      }
      use.with(body);
    } finally {
      kibibytes.release(reserved);
    }
  }

  /** A client that is still sending when the connection ends does not see the answer. */
  static void discard(InputStream in) throws IOException {
    byte[] buffer = new byte[16 * KIB];
    long left = DISCARDED;
    for (int read = 0; read >= 0 && left > 0; left -= read) {
      read = in.read(buffer);
    }
  }

  private static RejectedException tooLarge() {
    return new RejectedException(
        413,
        "the body is larger than 4 MiB: set nodeCacheCapable: true for this extender, so that the"
            + " scheduler sends the names of nodes only");
  }
}
