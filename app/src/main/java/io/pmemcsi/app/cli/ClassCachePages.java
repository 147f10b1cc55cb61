package io.pmemcsi.app.cli;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives memory back that only the start needed. The JVM maps its cache of classes and looks at
 * nearly all of it once; a driver that waits for calls needs a tenth of that. Pages that are mapped
 * from the file read-only can go at any time: the kernel brings them back when they are needed.
 */
final class ClassCachePages {

  private static final Logger LOG = LoggerFactory.getLogger(ClassCachePages.class);
  private static final Duration AFTER_START = Duration.ofSeconds(5);
  private static final int MADV_DONTNEED = 4;

  private ClassCachePages() {}

  /** A part of this process's memory. */
  record Range(long start, long end) {}

  /** Does it once, when the start is over. */
  static void releaseLater() {
    Thread.ofVirtual()
        .name("class-cache-pages")
        .start(
            () -> {
              try {
                Thread.sleep(AFTER_START);
                release();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
  }

  @SuppressWarnings("restricted") // the launcher allows native access
  private static void release() {
    try {
      List<Range> ranges = mappedReadOnly(Files.readAllLines(Path.of("/proc/self/maps")));
      if (ranges.isEmpty()) {
        return;
      }
      Linker linker = Linker.nativeLinker();
      MethodHandle madvise =
          linker.downcallHandle(
              linker.defaultLookup().findOrThrow("madvise"),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT,
                  ValueLayout.ADDRESS,
                  ValueLayout.JAVA_LONG,
                  ValueLayout.JAVA_INT));
      for (Range range : ranges) {
        int result =
            (int)
                madvise.invokeExact(
                    MemorySegment.ofAddress(range.start()),
                    range.end() - range.start(),
                    MADV_DONTNEED);
        LOG.atDebug()
            .addKeyValue("bytes", range.end() - range.start())
            .addKeyValue("result", result)
            .log("Pages of the class cache given back.");
      }
    } catch (IOException e) {
      // no Linux: then there is nothing to give back in this way
      LOG.atDebug().setCause(e).log("Pages of the class cache stay.");
    } catch (Throwable e) {
      LOG.atWarn().setCause(e).log("Pages of the class cache stay.");
    }
  }

  /** The parts of a class cache that the kernel can read from the file again, in lines of maps. */
  static List<Range> mappedReadOnly(List<String> maps) {
    return maps.stream()
        .map(line -> line.split(" +", 6))
        .filter(fields -> fields.length == 6)
        .filter(fields -> fields[1].equals("r--p") && fields[5].endsWith(".aot"))
        .map(fields -> fields[0].split("-", 2))
        .map(
            bounds ->
                new Range(
                    Long.parseUnsignedLong(bounds[0], 16), Long.parseUnsignedLong(bounds[1], 16)))
        .toList();
  }
}
