package io.pmemcsi.driver.linux.loop;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The structures of linux/loop.h, which are the same on every architecture. */
final class LoopStructs {

  /** struct loop_info64. */
  private static final int INFO_SIZE = 232;

  private static final int LO_DEVICE = 0;
  private static final int LO_INODE = 8;
  private static final int LO_OFFSET = 24;
  private static final int LO_FLAGS = 52;
  private static final int LO_FILE_NAME = 56;
  private static final int LO_NAME_SIZE = 64;

  /** struct loop_config: fd, block_size, loop_info64, eight reserved numbers. */
  private static final int CONFIG_SIZE = 2 * Integer.BYTES + INFO_SIZE + 8 * Long.BYTES;

  private static final int CONFIG_INFO = 2 * Integer.BYTES;

  /**
   * Data is not cached twice, for the file and for the device. Where the filesystem of the file
   * cannot do it the kernel ignores the flag.
   */
  private static final int LO_FLAGS_DIRECT_IO = 16;

  private LoopStructs() {}

  /** A buffer for the kernel's answer. */
  static MemorySegment info(Arena arena) {
    return arena.allocate(INFO_SIZE, Long.BYTES);
  }

  static MemorySegment info(Arena arena, Path file, long offset) {
    MemorySegment info = info(arena);
    fill(info, file, offset);
    return info;
  }

  static MemorySegment config(Arena arena, int backing, Path file, long offset) {
    MemorySegment config = arena.allocate(CONFIG_SIZE, Long.BYTES);
    config.set(ValueLayout.JAVA_INT, 0, backing);
    MemorySegment info = config.asSlice(CONFIG_INFO, INFO_SIZE);
    fill(info, file, offset);
    info.set(ValueLayout.JAVA_INT, LO_FLAGS, LO_FLAGS_DIRECT_IO);
    return config;
  }

  private static void fill(MemorySegment info, Path file, long offset) {
    info.set(ValueLayout.JAVA_LONG, LO_OFFSET, offset);
    byte[] name = file.toString().getBytes(StandardCharsets.UTF_8);
    // the last byte stays zero; for people only
    int length = Math.min(name.length, LO_NAME_SIZE - 1);
    MemorySegment.copy(name, 0, info, ValueLayout.JAVA_BYTE, LO_FILE_NAME, length);
  }

  static LoopCalls.Status status(MemorySegment info) {
    return new LoopCalls.Status(
        new FileIdentity(
            info.get(ValueLayout.JAVA_LONG, LO_DEVICE), info.get(ValueLayout.JAVA_LONG, LO_INODE)),
        info.get(ValueLayout.JAVA_LONG, LO_OFFSET));
  }
}
