package io.pmemcsi.driver.state;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** State files on a real disk: written beside, synced, renamed, and the directory synced. */
public final class DurableFiles implements StateFiles {

  /** What the name of a file ends with until it is complete; a crash leaves it behind. */
  public static final String TEMPORARY = ".tmp";

  /** A larger file in the state directory, which the heap may not hold, is damaged. */
  private static final int LIMIT = 1 << 20;

  @Override
  public List<String> list(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> !Files.isDirectory(file, NOFOLLOW_LINKS))
          .map(file -> file.getFileName().toString())
          .sorted()
          .toList();
    }
  }

  @Override
  public byte[] read(Path file) throws IOException {
    if (!Files.isRegularFile(file) && Files.exists(file, NOFOLLOW_LINKS)) {
      // opening a FIFO would wait for its writer
      throw new IOException("it is not a regular file, or a link that leads nowhere");
    }
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
    try {
      create(temporary, content);
    } catch (FileAlreadyExistsException e) {
      // left by a crash: it was never renamed, so it means nothing
      Files.delete(temporary);
      create(temporary, content);
    }
    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    syncDirectory(file);
  }

  private static void create(Path file, byte[] content) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, Set.of(CREATE_NEW, WRITE), StateDirectory.ownerOnly())) {
      ByteBuffer buffer = ByteBuffer.wrap(content);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
      channel.force(true);
    } catch (FileAlreadyExistsException e) {
      throw e;
    } catch (IOException e) {
      Files.deleteIfExists(file);
      throw e;
    }
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
