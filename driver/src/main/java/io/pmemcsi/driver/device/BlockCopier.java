package io.pmemcsi.driver.device;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import io.pmemcsi.driver.linux.block.BlockDevices;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import io.pmemcsi.driver.linux.libc.Blocking;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies all of a device to another one, past the page cache and in large pieces, which is as fast
 * as the devices allow and does not evict what others have cached.
 */
public final class BlockCopier {
  private static final Logger LOG = LoggerFactory.getLogger(BlockCopier.class);
  private static final int PIECE = 8 << 20;
  private static final int ALIGNMENT = 4096;
  private static final Duration REPORT_EVERY = Duration.ofSeconds(10);

  private BlockCopier() {}

  /**
   * Copies; durable on return. Stops between two pieces where the call is cancelled.
   *
   * @param blank whether the target holds zeros only, so that zeros need not be written
   */
  public static void copy(Device from, Device to, boolean blank) throws IOException {
    Optional<Cancellation> call = Cancellation.current();
    // on a thread of its own: reading and writing would keep a carrier of virtual threads busy
    Blocking.call(
        () -> {
          long direct = from.sizeBytes() - from.sizeBytes() % ALIGNMENT;
          try (FileChannel in = FileChannel.open(from.path(), READ, BlockDevices.DIRECT);
              FileChannel out = FileChannel.open(to.path(), WRITE, BlockDevices.DIRECT)) {
            copy(from, in, out, direct, blank, call);
          }
          try (FileChannel in = FileChannel.open(from.path(), READ);
              FileChannel out = FileChannel.open(to.path(), WRITE)) {
            in.position(direct);
            out.transferFrom(in, direct, from.sizeBytes() - direct);
            out.force(true);
          }
          return to;
        });
  }

  private static void copy(
      Device from,
      FileChannel in,
      FileChannel out,
      long bytes,
      boolean blank,
      Optional<Cancellation> call)
      throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(PIECE + ALIGNMENT).alignedSlice(ALIGNMENT);
    long lastReport = System.nanoTime();
    long done = 0;
    while (done < bytes) {
      if (call.map(Cancellation::isCancelled).orElse(false)) {
        throw ToolFailedException.cancelled("copy %s after %d bytes".formatted(from.path(), done));
      }
      buffer.clear().limit((int) Math.min(PIECE, bytes - done));
      int read = in.read(buffer, done);
      if (read <= 0) {
        throw new IOException("%s ends after %d bytes".formatted(from.path(), done));
      }
      buffer.flip();
      if (!blank || !isZero(buffer)) {
        long at = done;
        while (buffer.hasRemaining()) {
          at += out.write(buffer, at);
        }
      }
      done += read;
      if (System.nanoTime() - lastReport > REPORT_EVERY.toNanos()) {
        lastReport = System.nanoTime();
        LOG.atInfo()
            .addKeyValue("volume", from.id())
            .addKeyValue("percent", done * 100 / bytes)
            .log("Copying.");
      }
    }
  }

  private static boolean isZero(ByteBuffer buffer) {
    int words = buffer.remaining() / Long.BYTES;
    for (int i = 0; i < words; i++) {
      if (buffer.getLong(i * Long.BYTES) != 0) {
        return false;
      }
    }
    return true;
  }
}
