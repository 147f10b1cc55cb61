package io.pmemcsi.driver.linux.libc;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** An open file, for what Java's own channels cannot do. */
public final class Descriptor implements AutoCloseable {

  public static final int O_RDONLY = 0;
  public static final int O_RDWR = 2;
  public static final int O_EXCL = 0x80;

  private static final int O_CLOEXEC = 0x80000;
  private static final int F_SETSIG = 10;
  private static final int SIGURG = 23;
  private static final int F_SETLEASE = 1024;
  private static final int F_WRLCK = 1;
  private static final int F_UNLCK = 2;

  private final int number;
  private final String name;

  Descriptor(int number, String name) {
    this.number = number;
    this.name = name;
  }

  /** Opens a file; processes that the driver starts do not inherit it. */
  public static Descriptor open(Path path, int flags) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      long fd =
          Libc.call(
              "open(2) of " + path,
              Libc.OPEN,
              arena.allocateFrom(path.toString()).address(),
              flags | O_CLOEXEC);
      return new Descriptor((int) fd, path.toString());
    }
  }

  /** The number by which other calls know it, as long as it is open. */
  public int number() {
    return number;
  }

  /** An ioctl whose argument is a number; returns what the kernel answers. */
  public int ioctl(String request, int code, long argument) throws ErrnoException {
    return (int) Libc.call("%s of %s".formatted(request, name), Libc.IOCTL, number, code, argument);
  }

  /** An ioctl whose argument is a structure that is read or filled. */
  public void ioctl(String request, int code, MemorySegment argument) throws ErrnoException {
    ioctl(request, code, argument.address());
  }

  /**
   * Whether no other open file, of any process or of the kernel, refers to this file: only then the
   * kernel grants a write lease.
   */
  public boolean isOnlyUser() throws ErrnoException {
    String call = "lease of " + name;
    // a process that opens the file in this moment makes the kernel send a signal: the usual one
    // would end the JVM, this one is ignored
    Libc.call(call, Libc.FCNTL, number, F_SETSIG, SIGURG);
    try {
      Libc.call(call, Libc.FCNTL, number, F_SETLEASE, F_WRLCK);
      Libc.call(call, Libc.FCNTL, number, F_SETLEASE, F_UNLCK);
      return true;
    } catch (ErrnoException e) {
      if (e.errno() == Errno.EAGAIN) {
        return false;
      }
      throw e;
    }
  }

  @Override
  public void close() {
    try {
      Libc.call("close(2) of " + name, Libc.CLOSE, number);
    } catch (ErrnoException e) {
      // the descriptor is released in any case, and nothing was written through it
    }
  }
}
