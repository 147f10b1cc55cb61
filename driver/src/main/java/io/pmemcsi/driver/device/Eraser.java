package io.pmemcsi.driver.device;

import static java.nio.file.StandardOpenOption.WRITE;

import io.pmemcsi.driver.linux.block.BlockDevices;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Overwrites devices with zeros, past the page cache and in large pieces, which is as fast as the
 * device takes them and does not evict what others have cached.
 */
public final class Eraser {

  private static final Logger LOG = LoggerFactory.getLogger(Eraser.class);
  private static final int PIECE = 8 << 20;
  private static final int ALIGNMENT = 4096;
  private static final Duration REPORT_EVERY = Duration.ofSeconds(10);

  private final Progress progress;
  private final Duration reportEvery;
  private final Map<VolumeId, Stopped> stopped = new ConcurrentHashMap<>();

  /** How far it came with a device. */
  private record Stopped(Device device, long doneBytes) {}

  public Eraser(Progress progress) {
    this(progress, REPORT_EVERY);
  }

  /** The same with another pace in the log. */
  Eraser(Progress progress, Duration reportEvery) {
    this.progress = progress;
    this.reportEvery = reportEvery;
  }

  /** Called at the beginning and for each piece that was overwritten. */
  @FunctionalInterface
  public interface Progress {
    void erased(VolumeId volume, long doneBytes, long totalBytes);
  }

  /**
   * Overwrites all of a device. A cancelled erase resumes where it stopped: sidecars time out after
   * some minutes and call again, so a large device would never be finished otherwise. A device that
   * is being erased is not published, so what is zero stays zero.
   *
   * @throws BlockDevices.BusyException before anything was changed, when it is in use
   */
  public void erase(Device device) throws IOException {
    try (BlockDevices.Hold _ = BlockDevices.holdExclusively(device.path())) {
      try {
        onOwnThread(device);
      } finally {
        // also after a failure: nothing is being erased any more
        progress.erased(device.id(), device.sizeBytes(), device.sizeBytes());
      }
    }
  }

  /** There is another device for this volume now. */
  public void forget(VolumeId volume) {
    stopped.remove(volume);
  }

  /**
   * Prepares a volume's device for removal: overwritten if requested, and not in use.
   *
   * @throws DeviceException.InUse before anything was changed
   */
  public void release(Device device, boolean erase) {
    try {
      if (erase) {
        erase(device);
      } else {
        BlockDevices.holdExclusively(device.path()).close();
      }
    } catch (BlockDevices.BusyException e) {
      throw new DeviceException.InUse(device.id(), String.valueOf(e.getMessage()));
    } catch (IOException e) {
      throw new DeviceException.ToolFailed("erase the device of volume " + device.id(), e);
    }
  }

  /**
   * Virtual threads share a few that carry them all, and writing keeps one of those busy as long as
   * it takes: two large volumes would be enough to block all other calls.
   */
  private void onOwnThread(Device device) throws IOException {
    Optional<Cancellation> call = Cancellation.current();
    CompletableFuture<Device> done = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .name("erase")
        .start(
            () -> {
              try {
                overwrite(device, call);
                done.complete(device);
              } catch (IOException | RuntimeException | Error e) {
                done.completeExceptionally(e);
              }
            });
    try {
      done.join();
    } catch (CompletionException e) {
      switch (e.getCause()) {
        case IOException failed -> throw failed;
        case RuntimeException failed -> throw failed;
        case null, default -> throw e;
      }
    }
  }

  private void overwrite(Device device, Optional<Cancellation> call) throws IOException {
    Path path = device.path();
    long sizeBytes = device.sizeBytes();
    ByteBuffer zeros = Zeros.BUFFER.duplicate();
    long directBytes = sizeBytes - sizeBytes % ALIGNMENT;
    long lastReport = System.nanoTime();
    try (FileChannel channel = FileChannel.open(path, WRITE, BlockDevices.DIRECT)) {
      long done = begin(device);
      // before the first piece: a device may hang at once
      progress.erased(device.id(), done, sizeBytes);
      while (done < directBytes) {
        stopIfCancelled(call, path, done);
        done += channel.write(zeros.clear().limit((int) Math.min(PIECE, directBytes - done)), done);
        stopped.put(device.id(), new Stopped(device, done));
        progress.erased(device.id(), done, sizeBytes);
        if (System.nanoTime() - lastReport > reportEvery.toNanos()) {
          lastReport = System.nanoTime();
          report(device, done);
        }
      }
    }
    if (directBytes < sizeBytes) {
      try (FileChannel channel = FileChannel.open(path, WRITE)) {
        channel.write(zeros.clear().limit((int) (sizeBytes - directBytes)), directBytes);
      }
    }
    try (FileChannel channel = FileChannel.open(path, WRITE)) {
      channel.force(true);
    }
    forget(device.id());
  }

  private long begin(Device device) {
    Stopped before = stopped.get(device.id());
    if (before == null || !before.device().equals(device)) {
      return 0;
    }
    LOG.atInfo()
        .addKeyValue("volume", device.id())
        .addKeyValue("bytes", before.doneBytes())
        .log("Erasing goes on where it was stopped.");
    return before.doneBytes();
  }

  /** Shared by all erasures, because the memory outside of the heap is limited, too. */
  private static final class Zeros {
    private static final ByteBuffer BUFFER =
        ByteBuffer.allocateDirect(PIECE + ALIGNMENT).alignedSlice(ALIGNMENT).asReadOnlyBuffer();

    private Zeros() {}
  }

  private static void stopIfCancelled(Optional<Cancellation> call, Path device, long done) {
    if (call.map(Cancellation::isCancelled).orElse(false)) {
      throw ToolFailedException.cancelled(
          Command.of("erase", device.toString(), "after %d bytes".formatted(done)));
    }
  }

  private static void report(Device device, long done) {
    LOG.atInfo()
        .addKeyValue("volume", device.id())
        .addKeyValue("percent", done * 100 / device.sizeBytes())
        .log("Erasing.");
  }
}
