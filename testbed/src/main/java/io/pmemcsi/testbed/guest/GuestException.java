package io.pmemcsi.testbed.guest;

/** The guest could not be built, did not boot, or did not execute a command. */
public final class GuestException extends RuntimeException {
  GuestException(String message) {
    super(message);
  }

  GuestException(String message, Throwable cause) {
    super(message, cause);
  }
}
