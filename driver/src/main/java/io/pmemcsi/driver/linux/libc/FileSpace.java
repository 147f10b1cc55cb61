package io.pmemcsi.driver.linux.libc;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Set;

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

  private static final int F_TYPE = 0;
  private static final int F_BSIZE = 1;
  private static final int F_BLOCKS = 2;
  private static final int F_BFREE = 3;
  private static final int F_BAVAIL = 4;
  private static final int F_FILES = 5;
  private static final int F_FFREE = 6;
  private static final int F_FRSIZE = 9;

  private static final int FICLONE = 0x40049409;

  private static final Set<Integer> CANNOT_SHARE =
      Set.of(Errno.EXDEV, Errno.EINVAL, Errno.ENOTTY, Errno.ENOSYS, Errno.EOPNOTSUPP);

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

  /**
   * Makes a file share the blocks of another one.
   *
   * @return false when the filesystem cannot do that, or the files are on different ones
   */
  public static boolean reflink(Path from, Path to) throws IOException {
    // writes back what is cached of the source
    return Blocking.call(
        () -> {
          try (Descriptor source = Descriptor.open(from, Descriptor.O_RDONLY);
              Descriptor target = Descriptor.open(to, Descriptor.O_RDWR)) {
            target.ioctl("FICLONE", FICLONE, source.number());
            Libc.call("fsync(2) of " + to, Libc.FSYNC, target.number());
            return true;
          } catch (ErrnoException e) {
            if (CANNOT_SHARE.contains(e.errno())) {
              return false;
            }
            throw e;
          }
        });
  }

  /** The filesystem that a path is on. */
  public static Filesystem of(Path path) throws IOException {
    return Blocking.call(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment answer = statfs(arena, path);
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

  /** The type of the filesystem that a path is on, as statfs(2) reports it. */
  public static long typeOf(Path path) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      return field(statfs(arena, path), F_TYPE);
    }
  }

  private static MemorySegment statfs(Arena arena, Path path) throws ErrnoException {
    MemorySegment answer = arena.allocate(STATFS_BYTES, Long.BYTES);
    Libc.call(
        "statfs(2) of " + path,
        Libc.STATFS,
        arena.allocateFrom(path.toString()).address(),
        answer.address());
    return answer;
  }

  private static long field(MemorySegment answer, int index) {
    return answer.getAtIndex(ValueLayout.JAVA_LONG, index);
  }
}
