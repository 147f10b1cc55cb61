package io.pmemcsi.driver.device.file;

import io.pmemcsi.driver.linux.libc.FileSpace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What all image files together reserve, without examining each of them for each call.
 *
 * <p>Filesystems allocate and discard blocks of their files at any time; all files are examined
 * again when the last time is some seconds ago.
 */
final class ReservedSpace {

  private static final Duration VALID = Duration.ofSeconds(10);

  private final Listing files;
  private final Map<Path, Usage> users = new HashMap<>();
  private long examinedAt;
  private boolean examined;
  private long reserved;
  private long unallocated;

  /** Lists the image files. */
  @FunctionalInterface
  interface Listing {
    List<Path> list() throws IOException;
  }

  /** One file. */
  private record Usage(long size, long allocated) {
    long unallocated() {
      return Math.max(0, size - allocated);
    }
  }

  /**
   * All files.
   *
   * @param bytes their sizes
   * @param unallocated the part of that which they have not got from the disk yet
   */
  record Sum(long bytes, long unallocated) {}

  ReservedSpace(Listing files) {
    this.files = files;
  }

  synchronized Sum sum() throws IOException {
    if (!examined || System.nanoTime() - examinedAt > VALID.toNanos()) {
      examineAll();
    }
    return new Sum(reserved, unallocated);
  }

  /**
   * Examines all files at the next question, for example because there seems to be no space left.
   */
  synchronized void invalidate() {
    examined = false;
  }

  /** A file was created, expanded or deleted. */
  synchronized void changed(Path file) throws IOException {
    if (examined) {
      examine(file);
    }
  }

  private void examineAll() throws IOException {
    users.clear();
    reserved = 0;
    unallocated = 0;
    for (Path file : files.list()) {
      examine(file);
    }
    examinedAt = System.nanoTime();
    examined = true;
  }

  private void examine(Path file) throws IOException {
    Usage before = users.remove(file);
    if (before != null) {
      reserved -= before.size();
      unallocated -= before.unallocated();
    }
    try {
      Usage now = new Usage(Files.size(file), FileSpace.allocatedBytes(file));
      users.put(file, now);
      reserved += now.size();
      unallocated += now.unallocated();
    } catch (IOException e) {
      if (Files.exists(file)) {
        throw e;
      }
    }
  }
}
