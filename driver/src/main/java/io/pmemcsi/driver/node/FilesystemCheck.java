package io.pmemcsi.driver.node;

import io.pmemcsi.driver.linux.block.Signatures.Found;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeState.Filesystem;
import java.util.Optional;
import java.util.UUID;

/**
 * Compares the filesystem that was found on a device with the expected one. A difference is refused
 * with a message that names both, because the alternative would be to format it again.
 *
 * @param holder what holds the filesystem, as people call it
 */
record FilesystemCheck(String holder) {

  /** Exactly the filesystem that was recorded. */
  FilesystemType recorded(Filesystem expected, Found found, Optional<FilesystemType> requested) {
    FilesystemType type = supported(expected.type(), requested);
    boolean same =
        found instanceof Found.Signature(String thereType, String uuid)
            && thereType.equals(expected.type())
            && uuid.equalsIgnoreCase(expected.uuid().toString());
    if (!same) {
      throw damaged(expected.toString(), found);
    }
    return type;
  }

  /** Some filesystem that can be used, where none is recorded. */
  Found.Signature unrecorded(String expected, Found found, Optional<FilesystemType> requested) {
    return switch (found) {
      case Found.Signature there -> {
        supported(there.type(), requested);
        yield there;
      }
      case Found.Nothing _, Found.Unreadable _ -> throw damaged(expected, found);
    };
  }

  /** A found filesystem, for the record: without a UUID it is not distinguishable from others. */
  Filesystem identified(Found.Signature there) {
    try {
      return new Filesystem(there.type(), UUID.fromString(there.uuid()));
    } catch (IllegalArgumentException e) {
      throw new VolumeException.PreconditionFailed(
          "%s holds %s without a usable UUID, found \"%s\": give it one with \"tune2fs -U random\" or \"xfs_admin -U generate\" and try again"
              .formatted(holder, there.type(), there.uuid()));
    }
  }

  private FilesystemType supported(String type, Optional<FilesystemType> requested) {
    FilesystemType there =
        FilesystemType.parse(type)
            .filter(_ -> !type.isEmpty())
            .orElseThrow(
                () ->
                    new VolumeException.PreconditionFailed(
                        "%s holds %s, which is neither ext4 nor xfs: it is not touched"
                            .formatted(holder, type)));
    if (requested.isPresent() && requested.get() != there) {
      throw new VolumeException.Incompatible(
          "%s holds %s, requested: %s".formatted(holder, there.text(), requested.get().text()));
    }
    return there;
  }

  private VolumeException damaged(String expected, Found found) {
    return new VolumeException.PreconditionFailed(
        "%s is not formatted again: expected %s, found %s. Repair the filesystem or delete the volume"
            .formatted(holder, expected, found));
  }
}
