package io.pmemcsi.driver.device.file;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** The room that a sparse file really takes. Java cannot tell it, and starting du takes long. */
final class AllocatedSize {

  private static final int AT_FDCWD = -100;
  private static final int STATX_BLOCKS = 0x400;

  /** Of struct statx, which is the same on every architecture. */
  private static final int STATX_BYTES = 256;

  private static final int BLOCKS_OFFSET = 48;
  private static final int BLOCK = 512;

  private static final MethodHandle STATX = statx();

  private AllocatedSize() {}

  static long of(Path file) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = arena.allocateFrom(file.toString());
      MemorySegment answer = arena.allocate(STATX_BYTES, Long.BYTES);
      if ((int) STATX.invokeExact(AT_FDCWD, path, 0, STATX_BLOCKS, answer) != 0) {
        throw new IOException("cannot tell how much room %s takes".formatted(file));
      }
      return answer.get(ValueLayout.JAVA_LONG, BLOCKS_OFFSET) * BLOCK;
    } catch (IOException | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("statx(2) cannot be called", e);
    }
  }

  @SuppressWarnings("restricted")
  private static MethodHandle statx() {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().find("statx").orElseThrow(),
        FunctionDescriptor.of(
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_INT,
            ValueLayout.ADDRESS,
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_INT,
            ValueLayout.ADDRESS));
  }
}
