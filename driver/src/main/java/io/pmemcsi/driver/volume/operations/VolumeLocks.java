package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.volume.VolumeException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** One call at a time for each volume, any number for different ones. */
public final class VolumeLocks {
  private final Map<VolumeId, Entry> locks = new ConcurrentHashMap<>();

  private static final class Entry {
    final ReentrantLock lock = new ReentrantLock();
    int users;
  }

  /** Runs work that no other call for the same volume may interleave with. */
  <T> T with(VolumeId id, Supplier<T> work) {
    return with(
        id,
        lock -> {
          lock.lock();
          return true;
        },
        work);
  }

  /**
   * The same for a second volume, while the caller holds the lock of a first one. Two calls that
   * need each other's volume would wait for ever, so this one gives up.
   *
   * @throws VolumeException.Unfinished when another call holds the lock for longer than the limit
   */
  <T> T withSecond(VolumeId id, Duration limit, Supplier<T> work) {
    return with(
        id,
        lock -> {
          try {
            return lock.tryLock(limit.toNanos(), TimeUnit.NANOSECONDS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
          }
        },
        work);
  }

  private <T> T with(VolumeId id, Predicate<ReentrantLock> acquire, Supplier<T> work) {
    Entry entry =
        locks.compute(
            id,
            (_, old) -> {
              Entry kept = old == null ? new Entry() : old;
              kept.users++;
              return kept;
            });
    try {
      if (!acquire.test(entry.lock)) {
        throw new VolumeException.Unfinished(
            "another call for %s is in flight, call again when it has ended".formatted(id));
      }
      try {
        if (Cancellation.current().map(Cancellation::isCancelled).orElse(false)) {
          throw new VolumeException.Cancelled(
              "the call was cancelled while it waited for another call for volume " + id);
        }
        return work.get();
      } finally {
        entry.lock.unlock();
      }
    } finally {
      locks.computeIfPresent(id, (_, kept) -> --kept.users == 0 ? null : kept);
    }
  }

  /** Whether a call for a volume is in flight. */
  public boolean isHeld(VolumeId id) {
    return locks.containsKey(id);
  }

  /** The number of volumes with a call in flight. */
  int size() {
    return locks.size();
  }
}
