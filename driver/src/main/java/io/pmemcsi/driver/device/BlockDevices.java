package io.pmemcsi.driver.device;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** What only the kernel knows of a block device: its number, and whether somebody uses it. */
public final class BlockDevices {

  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final Duration RETRY_EVERY = Duration.ofMillis(50);
  private static final int O_RDONLY = 0;
  private static final int O_EXCL = 0x80;
  private static final int O_CLOEXEC = 0x80000;
  private static final int EBUSY = 16;
  private static final int S_IFMT = 0xf000;
  private static final int S_IFBLK = 0x6000;

  /**
   * Reads and writes past the page cache. The JDK can do it but does not export the option's type
   * for compilers.
   */
  public static final OpenOption DIRECT =
      Stream.of(openOptions()).filter(o -> o.toString().equals("DIRECT")).findFirst().orElseThrow();

  private BlockDevices() {}

  private static OpenOption[] openOptions() {
    try {
      return (OpenOption[]) Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants();
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("module jdk.unsupported is missing", e);
    }
  }

  /** A device that nobody can mount, erase or remove while it is held. */
  public interface Hold extends AutoCloseable {
    @Override
    void close();
  }

  /** A device is in use by somebody. */
  public static final class BusyException extends IOException {
    BusyException(Path device) {
      super("%s is mounted or opened exclusively".formatted(device));
    }
  }

  /**
   * Opens a block device for this program alone. The kernel refuses that for a device that is
   * mounted in whatever mount namespace, which no look into a mount table can tell.
   */
  public static Hold holdExclusively(Path device) throws IOException {
    if (!isBlockDevice(device)) {
      throw new IOException("%s is not a block device".formatted(device));
    }
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        return open(device);
      } catch (BusyException e) {
        // a mount that was just given up lives a little longer in namespaces that copied it
        if (System.nanoTime() > deadline) {
          throw e;
        }
        LockSupport.parkNanos(RETRY_EVERY.toNanos());
      }
    }
  }

  private static Hold open(Path device) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(Libc.CALL_STATE);
      MemorySegment path = arena.allocateFrom(device.toString());
      int fd = (int) Libc.OPEN.invokeExact(state, path, O_RDONLY | O_EXCL | O_CLOEXEC);
      if (fd < 0) {
        int errno = (int) Libc.ERRNO.get(state, 0L);
        if (errno == EBUSY) {
          throw new BusyException(device);
        }
        throw new IOException("cannot open %s: error number %d".formatted(device, errno));
      }
      return () -> close(fd);
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("open(2) cannot be called", e);
    }
  }

  /** Whether a path is, or leads to, a block device. */
  public static boolean isBlockDevice(Path path) throws IOException {
    if (!Files.exists(path)) {
      return false;
    }
    int mode = (int) Files.getAttribute(path, "unix:mode");
    return (mode & S_IFMT) == S_IFBLK;
  }

  /** The device's number as mount tables show it, for example {@code 7:3}. */
  public static String number(Path device) throws IOException {
    long rdev = ((Number) Files.getAttribute(device, "unix:rdev")).longValue();
    long major = (rdev >>> 8 & 0xfff) | (rdev >>> 32 & ~0xfffL);
    long minor = (rdev & 0xff) | (rdev >>> 12 & ~0xffL);
    return major + ":" + minor;
  }

  /** Whether a path is itself a node, bind-mounted or not, for that device number. */
  public static boolean isNodeOf(Path path, String number) {
    try {
      return Files.exists(path, LinkOption.NOFOLLOW_LINKS)
          && isBlockDevice(path)
          && number(path).equals(number);
    } catch (IOException e) {
      return false;
    }
  }

  private static void close(int fd) {
    try {
      int ignored = (int) Libc.CLOSE.invokeExact(fd);
    } catch (Throwable e) {
      throw new IllegalStateException("close(2) cannot be called", e);
    }
  }

  /** The way to the kernel; linked when it is first needed, which takes a moment. */
  private static final class Libc {
    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
        CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle OPEN =
        handle(
            "open",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT),
            Linker.Option.firstVariadicArg(2),
            Linker.Option.captureCallState("errno"));
    private static final MethodHandle CLOSE =
        handle("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    private Libc() {}

    @SuppressWarnings("restricted")
    private static MethodHandle handle(
        String name, FunctionDescriptor signature, Linker.Option... options) {
      Linker linker = Linker.nativeLinker();
      return linker.downcallHandle(
          linker.defaultLookup().find(name).orElseThrow(), signature, options);
    }
  }
}
