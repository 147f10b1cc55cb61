package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.volume.VolumeException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
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
    Entry entry =
        locks.compute(
            id,
            (_, old) -> {
              Entry kept = old == null ? new Entry() : old;
              kept.users++;
              return kept;
            });
    try {
      entry.lock.lock();
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
