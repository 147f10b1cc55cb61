package io.pmemcsi.driver.volume;

import io.pmemcsi.driver.device.VolumeId;
import java.time.Instant;

/** Where the content of a volume comes from. */
public sealed interface Origin {

  /** The volume was created blank. */
  record Blank() implements Origin {}

  /** A volume that began as a copy of another one. */
  record CopyOfVolume(VolumeId source) implements Origin {}

  /** A volume that began as a copy of a snapshot. */
  record CopyOfSnapshot(VolumeId source) implements Origin {}

  /**
   * Not a volume, but a snapshot of one: a copy that is never published.
   *
   * @param takenAt when the volume had this content
   */
  record SnapshotOf(VolumeId source, Instant takenAt) implements Origin {}

  /** Whether an existing copy satisfies a request: of a snapshot the time does not count. */
  default boolean isSameAs(Origin requested) {
    return switch (this) {
      case SnapshotOf(VolumeId source, Instant _) ->
          requested instanceof SnapshotOf(VolumeId other, Instant _) && other.equals(source);
      case Blank _, CopyOfVolume _, CopyOfSnapshot _ -> equals(requested);
    };
  }
}
