package io.pmemcsi.driver.linux.libc;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/** The space that files use and that filesystems have left, which Java reports only in part. */
public final class FileSpace {

  private static final int AT_FDCWD = -100;
  private static final int STATX_BLOCKS = 0x400;

  /** Of struct statx, which is the same on every architecture. */
  private static final int STATX_BYTES = 256;

  private static final int STX_BLOCKS = 48;
  private static final int STATX_BLOCK = 512;

  /** Of struct statfs on 64-bit architectures. */
  private static final int STATFS_BYTES = 120;

  private static final int F_BSIZE = 1;
  private static final int F_BLOCKS = 2;
  private static final int F_BFREE = 3;
  private static final int F_BAVAIL = 4;
  private static final int F_FILES = 5;
  private static final int F_FFREE = 6;
  private static final int F_FRSIZE = 9;

  private FileSpace() {}

  /** How full a filesystem is. */
  public record Filesystem(
      long totalBytes, long freeBytes, long availableBytes, long inodes, long freeInodes) {}

  /** The blocks that a sparse file really has, in bytes. */
  public static long allocatedBytes(Path file) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment answer = arena.allocate(STATX_BYTES, Long.BYTES);
      Libc.call(
          "statx(2) of " + file,
          Libc.STATX,
          AT_FDCWD,
          arena.allocateFrom(file.toString()).address(),
          0,
          STATX_BLOCKS,
          answer.address());
      return answer.get(ValueLayout.JAVA_LONG, STX_BLOCKS) * STATX_BLOCK;
    }
  }

  /** The filesystem that a path is on. */
  public static Filesystem of(Path path) throws IOException {
    return Blocking.call(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment answer = arena.allocate(STATFS_BYTES, Long.BYTES);
            Libc.call(
                "statfs(2) of " + path,
                Libc.STATFS,
                arena.allocateFrom(path.toString()).address(),
                answer.address());
            long unit =
                field(answer, F_FRSIZE) > 0 ? field(answer, F_FRSIZE) : field(answer, F_BSIZE);
            return new Filesystem(
                field(answer, F_BLOCKS) * unit,
                field(answer, F_BFREE) * unit,
                field(answer, F_BAVAIL) * unit,
                field(answer, F_FILES),
                field(answer, F_FFREE));
          }
        });
  }

  private static long field(MemorySegment answer, int index) {
    return answer.getAtIndex(ValueLayout.JAVA_LONG, index);
  }
}
