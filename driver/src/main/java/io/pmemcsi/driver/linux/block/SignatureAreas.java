package io.pmemcsi.driver.linux.block;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * Whether the areas where filesystems, partition tables and the like have their signatures hold
 * zeros only. Reading them costs less than starting a tool that finds nothing, and a new volume
 * usually gets a device that was erased or never used.
 */
final class SignatureAreas {

  /** Everything that blkid knows has something in the first or in the last of so many bytes. */
  private static final int AREA = 1 << 20;

  /** Each filesystem that can hold data has its superblock in the first of so many bytes. */
  private static final int BEGINNING = 128 << 10;

  private static final int ALIGNMENT = 4096;
  private static final MemorySegment ZEROS = MemorySegment.ofArray(new byte[64 << 10]);

  private SignatureAreas() {}

  /** All areas, at the beginning and at the end of a device. */
  static boolean areBlank(Path device) throws IOException {
    return read(
        device,
        AREA,
        (channel, memory) -> {
          long size = channel.size();
          long beginning = Math.min(AREA, size);
          return isBlank(channel, memory, 0, beginning)
              && isBlank(channel, memory, Math.max(beginning, size - AREA), size);
        });
  }

  /** Only where superblocks are. */
  static boolean isBeginningBlank(Path device) throws IOException {
    return read(
        device,
        BEGINNING,
        (channel, memory) -> isBlank(channel, memory, 0, Math.min(BEGINNING, channel.size())));
  }

  /** Reads from a device into memory and compares. */
  @FunctionalInterface
  private interface Comparison {
    boolean compare(FileChannel channel, MemorySegment memory) throws IOException;
  }

  private static boolean read(Path device, int bytes, Comparison comparison) throws IOException {
    try {
      // the page cache has no use for what is read once
      return read(device, Set.of(StandardOpenOption.READ, BlockDevices.DIRECT), bytes, comparison);
    } catch (IOException e) {
      // odd sizes and some filesystems do not allow that; bad memory fails again
      return read(device, Set.of(StandardOpenOption.READ), bytes, comparison);
    }
  }

  private static boolean read(
      Path device, Set<OpenOption> options, int bytes, Comparison comparison) throws IOException {
    // an arena returns its memory at once, a buffer when the garbage collector finds it
    try (FileChannel channel = FileChannel.open(device, options);
        Arena arena = Arena.ofConfined()) {
      return comparison.compare(channel, arena.allocate(bytes, ALIGNMENT));
    }
  }

  private static boolean isBlank(FileChannel channel, MemorySegment memory, long from, long to)
      throws IOException {
    long position = from;
    while (position < to) {
      ByteBuffer piece = memory.asByteBuffer();
      piece.limit((int) Math.min(memory.byteSize(), to - position));
      int read = channel.read(piece, position);
      if (read <= 0) {
        throw new IOException("cannot read %d bytes at %d".formatted(to - position, position));
      }
      if (!isZero(memory.asSlice(0, read))) {
        return false;
      }
      position += read;
    }
    return true;
  }

  private static boolean isZero(MemorySegment bytes) {
    for (long at = 0; at < bytes.byteSize(); at += ZEROS.byteSize()) {
      long length = Math.min(ZEROS.byteSize(), bytes.byteSize() - at);
      if (bytes.asSlice(at, length).mismatch(ZEROS.asSlice(0, length)) >= 0) {
        return false;
      }
    }
    return true;
  }
}
