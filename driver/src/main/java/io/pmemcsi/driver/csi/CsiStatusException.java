package io.pmemcsi.driver.csi;

import io.grpc.Status;

/** A CSI call that cannot be done, with the code that the caller gets. */
public final class CsiStatusException extends RuntimeException {

  private final Status.Code code;

  public CsiStatusException(Status.Code code, String message) {
    super(message);
    this.code = code;
  }

  public Status.Code code() {
    return code;
  }

  /** The request itself is wrong; repeating it is of no use. */
  public static CsiStatusException invalid(String message) {
    return new CsiStatusException(Status.Code.INVALID_ARGUMENT, message);
  }

  /** The volume, or the path, is not there. */
  public static CsiStatusException notFound(String message) {
    return new CsiStatusException(Status.Code.NOT_FOUND, message);
  }
}
