package io.pmemcsi.testbed.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A temporary directory that is deleted at the end, or, where the JVM was killed, by the next one
 * that makes a directory of the same kind: a lock that the kernel drops tells whose owner still
 * lives.
 */
public final class RunDirectory implements AutoCloseable {

  private static final String LOCK = "lock";

  private final Path path;
  private final FileChannel channel;

  private RunDirectory(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /** Makes a directory and removes those of the same kind that nobody owns any more. */
  public static RunDirectory create(String kind) {
    return createIn(Path.of(System.getProperty("java.io.tmpdir")), kind);
  }

  /** As {@link #create}, in another place than the usual one for temporary files. */
  public static RunDirectory createIn(Path parent, String kind) {
    try {
      removeOrphans(parent, kind);
      // it gets its name when it is locked: nobody shall take it for an orphan before
      Path unnamed = Files.createTempDirectory(parent, "." + kind + "-");
      FileChannel channel = lock(unnamed);
      String name = unnamed.getFileName().toString().substring(1);
      return new RunDirectory(Files.move(unnamed, parent.resolve(name)), channel);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make a temporary directory", e);
    }
  }

  public Path path() {
    return path;
  }

  public Path resolve(String name) {
    return path.resolve(name);
  }

  @Override
  public void close() {
    try (channel) {
      delete(path);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot delete " + path, e);
    }
  }

  private static FileChannel lock(Path directory) throws IOException {
    FileChannel channel =
        FileChannel.open(
            directory.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    channel.lock();
    return channel;
  }

  private static void removeOrphans(Path parent, String kind) throws IOException {
    List<Path> siblings;
    try (Stream<Path> all = Files.list(parent)) {
      siblings = all.filter(p -> p.getFileName().toString().startsWith(kind + "-")).toList();
    }
    for (Path sibling : siblings) {
      if (isOrphan(sibling)) {
        delete(sibling);
      }
    }
  }

  /** A directory with no lock file is one that another JVM is removing. */
  private static boolean isOrphan(Path directory) {
    try (FileChannel channel = FileChannel.open(directory.resolve(LOCK), StandardOpenOption.WRITE);
        @Nullable FileLock lock = channel.tryLock()) {
      return lock != null;
    } catch (IOException | OverlappingFileLockException e) {
      return false;
    }
  }

  private static void delete(Path directory) throws IOException {
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e)
              throws IOException {
            if (e != null) {
              throw e;
            }
            Files.deleteIfExists(directory);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
