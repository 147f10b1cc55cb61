package io.pmemcsi.driver.volume;

import java.util.Optional;
import java.util.UUID;

/**
 * What was ever put on the device of a volume, as far as this driver knows.
 *
 * <p>The order of events makes the promise that no filesystem is ever overwritten: {@link
 * Formatted} is durable before the first mount, {@link RawBlock} before a pod gets the device, and
 * only a volume that is {@link Blank} is given to mkfs, provided that no other release of the
 * driver has made a filesystem there meanwhile. So a volume that somebody could have written to is
 * never formatted.
 */
public sealed interface VolumeState {

  /** The device is being made, or its making was interrupted; nobody has seen it yet. */
  record Creating() implements VolumeState {}

  /**
   * Made, wiped, handed out to nobody.
   *
   * @param planned the UUID that our filesystem will have: one that shows up with another UUID was
   *     made by somebody else. First builds of 2.0 planned none.
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

  /** Was handed out as a raw device: holds whatever its user wrote. */
  record RawBlock() implements VolumeState {}

  /** Being erased and removed; not to be used again. */
  record Deleting() implements VolumeState {}

  /** A filesystem that can be told from all others. */
  record Filesystem(String type, UUID uuid) {
    @Override
    public String toString() {
      return "%s with UUID %s".formatted(type, uuid);
    }
  }
}
