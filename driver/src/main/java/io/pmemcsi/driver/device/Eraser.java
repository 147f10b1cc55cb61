package io.pmemcsi.driver.device;

import static java.nio.file.StandardOpenOption.WRITE;

import io.pmemcsi.driver.command.Cancellation;
import io.pmemcsi.driver.command.Command;
import io.pmemcsi.driver.command.ToolFailedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Overwrites devices with zeros, past the page cache and in large pieces, which is as fast as the
 * device takes them and leaves the caches of everybody else alone.
 */
public final class Eraser {

  private static final Logger LOG = LoggerFactory.getLogger(Eraser.class);
  private static final int PIECE = 8 << 20;
  private static final int ALIGNMENT = 4096;
  private static final Duration REPORT_EVERY = Duration.ofSeconds(10);

  /** The JDK supports direct I/O but does not export the option's type for compilers. */
  private static final OpenOption DIRECT =
      Stream.of(openOptions()).filter(o -> o.toString().equals("DIRECT")).findFirst().orElseThrow();

  private final Progress progress;

  public Eraser(Progress progress) {
    this.progress = progress;
  }

  /** Hears of each piece that was overwritten. */
  @FunctionalInterface
  public interface Progress {
    void erased(Path device, long doneBytes, long totalBytes);
  }

  /**
   * Overwrites all of a device.
   *
   * @throws BlockDevices.BusyException before anything was changed, when somebody uses it
   */
  public void erase(Path device, long sizeBytes) throws IOException {
    try (BlockDevices.Hold _ = BlockDevices.holdExclusively(device)) {
      try {
        overwrite(device, sizeBytes);
      } finally {
        // also after a failure: nothing is being erased any more
        progress.erased(device, sizeBytes, sizeBytes);
      }
    }
  }

  /**
   * Makes a volume's device ready to be removed: overwritten if asked for, and in use by nobody.
   *
   * @throws DeviceException.InUse before anything was changed
   */
  public void release(Device device, boolean erase) {
    try {
      if (erase) {
        erase(device.path(), device.sizeBytes());
      } else {
        BlockDevices.holdExclusively(device.path()).close();
      }
    } catch (BlockDevices.BusyException e) {
      throw new DeviceException.InUse(device.id(), String.valueOf(e.getMessage()));
    } catch (IOException e) {
      throw new DeviceException.ToolFailed("erase the device of volume " + device.id(), e);
    }
  }

  private void overwrite(Path device, long sizeBytes) throws IOException {
    ByteBuffer zeros = Zeros.BUFFER.duplicate();
    long directBytes = sizeBytes - sizeBytes % ALIGNMENT;
    long lastReport = System.nanoTime();
    try (FileChannel channel = FileChannel.open(device, WRITE, DIRECT)) {
      long done = 0;
      while (done < directBytes) {
        stopIfCancelled(device, done);
        done += channel.write(zeros.clear().limit((int) Math.min(PIECE, directBytes - done)), done);
        progress.erased(device, done, sizeBytes);
        if (System.nanoTime() - lastReport > REPORT_EVERY.toNanos()) {
          lastReport = System.nanoTime();
          report(device, done, sizeBytes);
        }
      }
    }
    if (directBytes < sizeBytes) {
      try (FileChannel channel = FileChannel.open(device, WRITE)) {
        channel.write(zeros.clear().limit((int) (sizeBytes - directBytes)), directBytes);
      }
    }
    try (FileChannel channel = FileChannel.open(device, WRITE)) {
      channel.force(true);
    }
  }

  /** What everybody writes; one for all, because the memory outside of the heap is limited, too. */
  private static final class Zeros {
    private static final ByteBuffer BUFFER =
        ByteBuffer.allocateDirect(PIECE + ALIGNMENT).alignedSlice(ALIGNMENT).asReadOnlyBuffer();

    private Zeros() {}
  }

  private static void stopIfCancelled(Path device, long done) {
    if (Cancellation.current().map(Cancellation::isCancelled).orElse(false)) {
      throw ToolFailedException.cancelled(
          Command.of("erase", device.toString(), "after %d bytes".formatted(done)));
    }
  }

  private static OpenOption[] openOptions() {
    try {
      return (OpenOption[]) Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants();
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("module jdk.unsupported is missing", e);
    }
  }

  private static void report(Path device, long done, long total) {
    LOG.atInfo()
        .addKeyValue("device", device)
        .addKeyValue("percent", done * 100 / total)
        .log("Erasing.");
  }
}
