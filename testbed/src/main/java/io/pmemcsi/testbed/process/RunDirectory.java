package io.pmemcsi.testbed.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A temporary directory that is deleted at the end, or, where the JVM was killed, by the next one
 * that makes a directory of the same kind: a lock that the kernel drops shows whose owner still
 * lives.
 */
public final class RunDirectory implements AutoCloseable {

  private static final String LOCK = "lock";

  /**
   * Those of this JVM. A process that closes a file drops all its locks on that file, also those of
   * other descriptors: the lock files of these directories must not be opened again.
   */
  private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

  private final Path path;
  private final FileChannel channel;

  private RunDirectory(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
  }

  /** Creates a directory and removes those of the same kind whose owner has ended. */
  public static RunDirectory create(String kind) {
    return createIn(Path.of(System.getProperty("java.io.tmpdir")), kind);
  }

  /** As {@link #create}, in another place than the usual one for temporary files. */
  public static RunDirectory createIn(Path parent, String kind) {
    try {
      removeOrphans(parent, kind);
      // it gets its name when it is locked: no other process must take it for an orphan before
      Path unnamed = Files.createTempDirectory(parent, "." + kind + "-");
      FileChannel channel = lock(unnamed);
      Path path = parent.resolve(unnamed.getFileName().toString().substring(1));
      OWN.add(path);
      return new RunDirectory(Files.move(unnamed, path), channel);
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
    } finally {
      OWN.remove(path);
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
      if (!OWN.contains(sibling) && isOrphan(sibling)) {
        delete(sibling);
      }
    }
  }

  /** A directory with no lock file is one that another JVM is removing. */
  private static boolean isOrphan(Path directory) {
    try (FileChannel channel = FileChannel.open(directory.resolve(LOCK), StandardOpenOption.WRITE);
        @Nullable FileLock lock = channel.tryLock()) {
      return lock != null;
    } catch (IOException e) {
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
