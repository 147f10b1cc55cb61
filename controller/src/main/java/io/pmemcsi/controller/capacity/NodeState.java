package io.pmemcsi.controller.capacity;

import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What is known about one node; guarded by the lock of {@link NodeCapacities}. */
final class NodeState {

  private final String name;
  private @Nullable Room room;
  private Instant observed = Instant.EPOCH;
  private long promised;

  /** By how much free space shrank for which no promised volume has been seen yet. */
  private long shrunk;

  NodeState(String name) {
    this.name = name;
  }

  String name() {
    return name;
  }

  Optional<Room> room() {
    return Optional.ofNullable(room);
  }

  Instant observed() {
    return observed;
  }

  long promised() {
    return promised;
  }

  boolean isUnused() {
    return room == null && promised == 0;
  }

  void observe(Room now, Instant at) {
    if (room != null && now.available() < room.available()) {
      shrunk += room.available() - now.available();
    }
    shrunk = Math.min(shrunk, promised);
    room = now;
    observed = at;
  }

  void forget() {
    room = null;
    shrunk = 0;
  }

  void promise(long bytes) {
    promised += bytes;
  }

  void release(long bytes) {
    promised -= bytes;
    shrunk = Math.min(shrunk, promised);
  }

  /** Whether the reported free space already lacks a volume of this size; counted only once. */
  boolean reflects(long bytes) {
    if (shrunk < bytes) {
      return false;
    }
    shrunk -= bytes;
    return true;
  }
}
