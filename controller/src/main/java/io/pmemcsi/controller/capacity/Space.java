package io.pmemcsi.controller.capacity;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Free space as it was reported last, and what is reserved of it. */
final class Space {

  private @Nullable FreeCapacity free;
  private long reserved;

  /** By how much free space shrank for which no reserved volume has been seen yet. */
  private long shrunk;

  Optional<FreeCapacity> free() {
    return Optional.ofNullable(free);
  }

  /** What all new volumes together can take; 0 if that is not known. */
  long available() {
    return free == null ? 0 : free.available();
  }

  long reserved() {
    return reserved;
  }

  boolean isUnused() {
    return free == null && reserved == 0;
  }

  void observe(FreeCapacity now) {
    if (free != null && now.available() < free.available()) {
      shrunk += free.available() - now.available();
    }
    shrunk = Math.min(shrunk, reserved);
    free = now;
  }

  void forget() {
    free = null;
    shrunk = 0;
  }

  void reserve(long bytes) {
    reserved += bytes;
  }

  void release(long bytes) {
    reserved -= bytes;
    shrunk = Math.min(shrunk, reserved);
  }

  /** Whether a volume can be created at all. */
  boolean mayTake(long bytes) {
    return free == null || bytes <= free.available();
  }

  /** Whether the reported free space already lacks a volume of this size. */
  boolean lacks(long bytes) {
    return shrunk >= bytes;
  }

  /** Counts a volume that the reported free space lacks, so that no other one is found there. */
  void count(long bytes) {
    shrunk -= Math.min(shrunk, bytes);
  }
}
