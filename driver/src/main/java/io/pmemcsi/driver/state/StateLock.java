package io.pmemcsi.driver.state;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps a second driver out of a state directory: it would take volumes that the first one is
 * creating for the remains of a crash. The kernel releases the lock when its owner ends, however it
 * ends.
 */
public final class StateLock implements AutoCloseable {

  private static final Duration RETRY_EVERY = Duration.ofMillis(20);

  private final FileChannel channel;

  private StateLock(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Takes the lock of a state directory, which is created when its parent exists.
   *
   * @param timeout how long to wait for a driver that was just killed
   */
  public static StateLock take(Path stateDirectory, Duration timeout) {
    StateDirectory.create(stateDirectory);
    Path file = stateDirectory.resolve("lock");
    try {
      FileChannel channel =
          FileChannel.open(file, Set.of(CREATE, WRITE), StateDirectory.ownerOnly());
      long deadline = System.nanoTime() + timeout.toNanos();
      while (!isTaken(channel)) {
        if (System.nanoTime() > deadline) {
          channel.close();
          throw StateException.inUse(stateDirectory);
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
      throw new IllegalStateException("cannot release the state directory", e);
    }
  }
}
