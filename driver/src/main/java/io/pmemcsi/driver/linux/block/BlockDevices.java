package io.pmemcsi.driver.linux.block;

import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.linux.libc.Descriptor;
import io.pmemcsi.driver.linux.libc.Errno;
import io.pmemcsi.driver.linux.libc.ErrnoException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** Whether a path is a block device, and whether that device is in use. */
public final class BlockDevices {

  private static final Duration RETRY_EVERY = Duration.ofMillis(50);
  private static final int BLKFLSBUF = 0x1261;
  private static final int S_IFMT = 0xf000;
  private static final int S_IFBLK = 0x6000;

  /**
   * Reads and writes past the page cache. The JDK has the option but does not export its type for
   * compilers.
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

  /** A device that nothing else can mount, erase or remove while it is held. */
  public interface Hold extends AutoCloseable {
    @Override
    void close();
  }

  /** A device is mounted or held by another process. */
  public static final class BusyException extends IOException {
    BusyException(Path device, String by) {
      super("%s is mounted or opened exclusively: %s".formatted(device, by));
    }
  }

  /**
   * Opens a block device for this program alone. The kernel refuses that for a device that is
   * mounted in any mount namespace, which the mount table of this one cannot show.
   */
  public static Hold holdExclusively(Path device) throws IOException {
    if (!isBlockDevice(device)) {
      throw new IOException("%s is not a block device".formatted(device));
    }
    long deadline = System.nanoTime() + Timeouts.BUSY_DEVICE.toNanos();
    while (true) {
      try {
        return Descriptor.open(device, Descriptor.O_RDONLY | Descriptor.O_EXCL)::close;
      } catch (ErrnoException e) {
        if (e.errno() != Errno.EBUSY) {
          throw e;
        }
        // after an unmount, copies of the mount in other namespaces live a little longer
        if (System.nanoTime() > deadline) {
          throw new BusyException(device, new DeviceHolders(DeviceNumber.of(device)).describe());
        }
        LockSupport.parkNanos(RETRY_EVERY.toNanos());
      }
    }
  }

  /** Drops what the kernel has cached of a device. */
  public static void dropCache(Path device) throws IOException {
    try (Descriptor open = Descriptor.open(device, Descriptor.O_RDONLY)) {
      open.ioctl("BLKFLSBUF", BLKFLSBUF, 0);
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

  /** Whether a path is, or leads to, a node of a device. */
  static boolean leadsTo(Path path, DeviceNumber number) {
    try {
      return isBlockDevice(path) && DeviceNumber.of(path).equals(number);
    } catch (IOException e) {
      return false;
    }
  }

  /** Whether filesystems on a device can be mounted with DAX. */
  public static boolean supportsDax(Path device) throws IOException {
    Path attribute = Path.of("/sys/dev/block", DeviceNumber.of(device).toString(), "queue", "dax");
    return Files.exists(attribute) && Files.readString(attribute).strip().equals("1");
  }

  /** Whether a path is itself a node, bind-mounted or not, of a device. */
  public static boolean isNodeOf(Path path, DeviceNumber number) {
    try {
      return Files.exists(path, LinkOption.NOFOLLOW_LINKS)
          && isBlockDevice(path)
          && DeviceNumber.of(path).equals(number);
    } catch (IOException e) {
      return false;
    }
  }
}
