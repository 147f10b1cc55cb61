package io.pmemcsi.driver.volume;

import java.util.Optional;
import java.util.UUID;

/**
 * What was ever put on the device of a volume, as far as this driver knows.
 *
 * <p>The order of writes guarantees that no filesystem is ever overwritten: {@link Formatted} is
 * durable before the first mount, {@link RawBlock} before a pod gets the device, and only a volume
 * that is {@link Blank} is given to mkfs, provided that no other release of the driver has created
 * a filesystem there since. So a volume that a user could have written to is never formatted.
 */
public sealed interface VolumeState {
  /** The device is being created, or its creation was interrupted; it was never published. */
  record Creating() implements VolumeState {}

  /**
   * Created, wiped, never published.
   *
   * @param planned the UUID that our filesystem will have: one with another UUID was created by
   *     another program. First builds of 2.0 planned none.
   */
  record Blank(Optional<UUID> planned) implements VolumeState {
    /** For a device that was just wiped. */
    public static Blank wiped() {
      return new Blank(Optional.of(UUID.randomUUID()));
    }
  }

  /**
   * Holds this filesystem, and maybe data.
   *
   * @param image the filesystem in the image file of a Kata volume, recorded before a pod gets it
   */
  record Formatted(Filesystem filesystem, Optional<Filesystem> image) implements VolumeState {
    public Formatted(Filesystem filesystem) {
      this(filesystem, Optional.empty());
    }
  }

  /** Was published as a raw device: holds whatever its user wrote. */
  record RawBlock() implements VolumeState {}

  /**
   * Created by a release that did not record the state, and not formatted by this one: it may hold
   * data. On disk it is the absence of a state file.
   */
  record Legacy() implements VolumeState {}

  /** Being erased and removed; not to be used again. */
  record Deleting() implements VolumeState {}

  /** A filesystem, distinguishable from all others. */
  record Filesystem(String type, UUID uuid) {
    @Override
    public String toString() {
      return "%s with UUID %s".formatted(type, uuid);
    }
  }
}
