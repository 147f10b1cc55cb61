package io.pmemcsi.driver.linux.libc;

import java.io.IOException;

/** The kernel refused a call. The message has the call, its argument and the reason. */
public final class ErrnoException extends IOException {

  private final int errno;

  /**
   * @param call what was called and on what, for example {@code umount2(2) at /mnt}
   */
  public ErrnoException(String call, int errno) {
    super("%s: %s (error number %d)".formatted(call, Libc.describe(errno), errno));
    this.errno = errno;
  }

  /** One of {@link Errno}, or any other number. */
  public int errno() {
    return errno;
  }
}
