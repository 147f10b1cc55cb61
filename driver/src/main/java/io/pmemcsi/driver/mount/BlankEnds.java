package io.pmemcsi.driver.mount;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Whether the places where filesystems, partition tables and the like leave their signatures hold
 * nothing but zeros. Looking there costs less than starting a tool that would find nothing, and
 * devices that were erased or never used are the usual case for a new volume.
 */
final class BlankEnds {

  /** Everything that blkid knows has something in the first or in the last of so many bytes. */
  private static final long END = 1L << 20;

  private static final int PIECE = 128 << 10;
  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(PIECE).asReadOnlyBuffer();

  private BlankEnds() {}

  static boolean of(Path device) throws IOException {
    try (FileChannel channel = FileChannel.open(device, StandardOpenOption.READ)) {
      long size = channel.size();
      return isBlank(channel, 0, Math.min(END, size))
          && isBlank(channel, Math.max(0, size - END), size);
    }
  }

  private static boolean isBlank(FileChannel channel, long from, long to) throws IOException {
    ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
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
