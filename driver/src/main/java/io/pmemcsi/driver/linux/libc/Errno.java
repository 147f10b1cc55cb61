package io.pmemcsi.driver.linux.libc;

/** The error numbers that the driver distinguishes; they are the same on every architecture. */
public final class Errno {

  public static final int ENOENT = 2;
  public static final int ENXIO = 6;
  public static final int EAGAIN = 11;
  public static final int EBUSY = 16;
  public static final int EXDEV = 18;
  public static final int EINVAL = 22;
  public static final int ENOTTY = 25;
  public static final int ENOSYS = 38;
  public static final int EOPNOTSUPP = 95;

  private Errno() {}
}
