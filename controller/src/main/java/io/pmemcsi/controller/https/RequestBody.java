package io.pmemcsi.controller.https;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;

/**
 * Reads the body of a request, and reserves the memory for it and for handling it. A client gets
 * memory only when it has sent the whole body, or a first part if there is more: one that sends
 * nothing takes none from others.
 */
final class RequestBody {

  /** Ten times what a scheduler sends for 5,000 nodes by name. */
  static final int MAX_LENGTH = 4 << 20;

  /** Every request has the memory for this part. */
  static final int FIRST_PART = 32 << 10;

  private static final int MAX_UNKNOWN_LENGTH = 64 << 10;

  /**
   * Memory that handling takes, as a multiple of the body, up to a limit: objects are larger than
   * their JSON.
   */
  private static final int EXPANSION = 8;

  private static final long MAX_EXPANSION = 12 << 20;

  /** What handling takes if the body is not larger than the first part. */
  static final int MAX_SMALL = EXPANSION * FIRST_PART;

  private static final int DISCARDED = 32 << 20;

  private RequestBody() {}

  /** The body is not accepted. */
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

  /**
   * Reads all of a body.
   *
   * @param length from the Content-Length header; negative without one
   * @param wait how long the request may wait for memory
   */
  static byte[] read(InputStream in, long length, Exchanges exchanges, Duration wait)
      throws IOException, RejectedException, Exchanges.BusyException, InterruptedException {
    if (length > MAX_LENGTH) {
      throw new RejectedException(
          413,
          "the body is larger than 4 MiB: set nodeCacheCapable: true for this extender, so that the"
              + " scheduler sends the names of nodes only");
    }
    int limit = length < 0 ? MAX_UNKNOWN_LENGTH : (int) length;
    byte[] body = new byte[Math.min(limit, FIRST_PART)];
    int read = in.readNBytes(body, 0, body.length);
    if (read < body.length || read == limit) {
      exchanges.reserve(expansion(read), wait);
    } else {
      exchanges.reserve(limit - read + expansion(limit), wait);
      body = Arrays.copyOf(body, limit);
      read += in.readNBytes(body, read, limit - read);
    }
    if (length < 0 && read == limit && in.read() >= 0) {
      throw new RejectedException(411, "a body of more than 64 KiB needs a Content-Length header");
    }
    return read == body.length ? body : Arrays.copyOf(body, read);
  }

  private static long expansion(int length) {
    return Math.min(MAX_EXPANSION, EXPANSION * (long) length);
  }

  /** A client that is still sending when the connection ends does not see the answer. */
  static void discard(InputStream in) throws IOException {
    byte[] buffer = new byte[16 << 10];
    long left = DISCARDED;
    for (int read = 0; read >= 0 && left > 0; left -= read) {
      read = in.read(buffer);
    }
  }
}
