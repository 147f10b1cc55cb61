package io.pmemcsi.driver.linux.block;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * Whether the places where filesystems, partition tables and the like leave their signatures hold
 * nothing but zeros. Looking there costs less than starting a tool that would find nothing, and
 * devices that were erased or never used are the usual case for a new volume.
 */
final class SignatureAreas {

  /** Everything that blkid knows has something in the first or in the last of so many bytes. */
  private static final long END = 1L << 20;

  private static final int PIECE = 128 << 10;
  private static final int ALIGNMENT = 4096;
  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(PIECE).asReadOnlyBuffer();

  private SignatureAreas() {}

  static boolean of(Path device) throws IOException {
    return look(
        device,
        (channel, piece) -> {
          long size = channel.size();
          return isBlank(channel, piece, 0, Math.min(END, size))
              && isBlank(channel, piece, Math.max(0, size - END), size);
        });
  }

  /**
   * The same for the first piece only, where each filesystem that can hold data has its superblock.
   */
  static boolean atTheBeginning(Path device) throws IOException {
    return look(
        device, (channel, piece) -> isBlank(channel, piece, 0, Math.min(PIECE, channel.size())));
  }

  /** A look into a device, with memory to read into. */
  @FunctionalInterface
  private interface Look {
    boolean into(FileChannel channel, ByteBuffer piece) throws IOException;
  }

  private static boolean look(Path device, Look look) throws IOException {
    try {
      // memory that is looked at once is not worth a place in the page cache
      return look(device, Set.of(StandardOpenOption.READ, BlockDevices.DIRECT), look);
    } catch (IOException e) {
      // odd sizes and some filesystems do not allow that; bad memory fails again
      return look(device, Set.of(StandardOpenOption.READ), look);
    }
  }

  private static boolean look(Path device, Set<OpenOption> options, Look look) throws IOException {
    // memory of an arena goes back at once, that of a buffer when the garbage collector finds it
    try (FileChannel channel = FileChannel.open(device, options);
        Arena arena = Arena.ofConfined()) {
      return look.into(channel, arena.allocate(PIECE, ALIGNMENT).asByteBuffer());
    }
  }

  private static boolean isBlank(FileChannel channel, ByteBuffer piece, long from, long to)
      throws IOException {
    long position = from;
    while (position < to) {
      piece.clear().limit((int) Math.min(PIECE, to - position));
      int read = channel.read(piece, position);
      if (read <= 0) {
        throw new IOException("cannot read %d bytes at %d".formatted(to - position, position));
      }
      if (!piece.flip().equals(ZEROS.slice(0, read))) {
        return false;
      }
      position += read;
    }
    return true;
  }
}
