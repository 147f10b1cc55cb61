package io.pmemcsi.driver.state;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** State files on a real disk: written beside, synced, renamed, and the directory synced. */
public final class DurableFiles implements StateFiles {

  static final String TEMPORARY = ".tmp";

  /** A larger file in the state directory, which the heap may not hold, is damaged. */
  private static final int LIMIT = 1 << 20;

  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  @Override
  public List<String> list(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> file.getFileName().toString())
          .sorted()
          .toList();
    }
  }

  @Override
  public byte[] read(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] content = in.readNBytes(LIMIT + 1);
      if (content.length > LIMIT) {
        throw new IOException(
            "it has %d bytes, more than any file that this driver writes"
                .formatted(Files.size(file)));
      }
      return content;
    }
  }

  @Override
  public void write(Path file, byte[] content) throws IOException {
    Path temporary = file.resolveSibling(file.getFileName() + TEMPORARY);
    // a crash may have left one behind: it was never renamed, so it means nothing
    Files.deleteIfExists(temporary);
    try (FileChannel channel = FileChannel.open(temporary, Set.of(CREATE_NEW, WRITE), OWNER_ONLY)) {
      ByteBuffer buffer = ByteBuffer.wrap(content);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
      channel.force(true);
    }
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    syncDirectory(file);
  }

  @Override
  public void delete(Path file) throws IOException {
    if (Files.deleteIfExists(file)) {
      syncDirectory(file);
    }
  }

  /** A rename or removal is only durable once the directory itself is on disk. */
  private static void syncDirectory(Path file) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    if (directory != null) {
      try (FileChannel channel = FileChannel.open(directory, READ)) {
        channel.force(true);
      }
    }
  }
}
