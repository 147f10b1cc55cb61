package io.pmemcsi.driver.registry;

import io.grpc.Context;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** One call at a time for each volume, many for different ones. */
final class VolumeCalls {

  /** So many that calls for different volumes rarely wait for each other. */
  private final ReentrantLock[] locks =
      Stream.generate(ReentrantLock::new).limit(1024).toArray(ReentrantLock[]::new);

  <T> T serialize(String volumeId, Supplier<T> call) {
    ReentrantLock lock = locks[Math.floorMod(volumeId.hashCode(), locks.length)];
    lock.lock();
    try {
      if (Context.current().isCancelled()) {
        throw new RegistryException.Cancelled(
            "the call ended while it waited for another call for volume " + volumeId);
      }
      return call.get();
    } finally {
      lock.unlock();
    }
  }
}
