package io.pmemcsi.driver.state;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps a second driver away from a state folder: it would take what the first one is just making
 * for the remains of a crash. The kernel gives the lock back when its owner dies, however it dies.
 */
public final class StateLock implements AutoCloseable {

  private static final Duration RETRY_EVERY = Duration.ofMillis(20);

  private final FileChannel channel;

  private StateLock(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Takes the lock of a state folder, which is made when its parent exists.
   *
   * @param patience how long a driver that was just killed may take to go
   */
  public static StateLock take(Path stateFolder, Duration patience) {
    StateDirectory.create(stateFolder);
    Path file = stateFolder.resolve("lock");
    try {
      FileChannel channel = FileChannel.open(file, CREATE, WRITE);
      long deadline = System.nanoTime() + patience.toNanos();
      while (!isTaken(channel)) {
        if (System.nanoTime() > deadline) {
          channel.close();
          throw StateException.inUse(stateFolder);
        }
        LockSupport.parkNanos(RETRY_EVERY.toNanos());
      }
      return new StateLock(channel);
    } catch (IOException e) {
      throw new StateException("lock", file, e);
    }
  }

  private static boolean isTaken(FileChannel channel) throws IOException {
    try {
      return channel.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      return false; // another driver in this process
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new IllegalStateException("cannot let go of the state folder", e);
    }
  }
}
