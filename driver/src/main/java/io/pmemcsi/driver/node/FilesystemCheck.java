package io.pmemcsi.driver.node;

import io.pmemcsi.driver.linux.block.Signatures.Found;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeState.Filesystem;
import java.util.Optional;
import java.util.UUID;

/**
 * Compares what was found on a device with what has to be there. Whatever differs is refused with
 * both in words, because the alternative would be to format it once more.
 *
 * @param holder what holds the filesystem, as people call it
 */
record FilesystemCheck(String holder) {

  /** Exactly the filesystem that was recorded. */
  FilesystemType recorded(Filesystem expected, Found found, Optional<FilesystemType> wanted) {
    FilesystemType type = supported(expected.type(), wanted);
    boolean same =
        found instanceof Found.Signature(String thereType, String uuid)
            && thereType.equals(expected.type())
            && uuid.equalsIgnoreCase(expected.uuid().toString());
    if (!same) {
      throw damaged(expected.toString(), found);
    }
    return type;
  }

  /** Some filesystem that can be used, where nobody has recorded which one. */
  Found.Signature unrecorded(String expected, Found found, Optional<FilesystemType> wanted) {
    return switch (found) {
      case Found.Signature there -> {
        supported(there.type(), wanted);
        yield there;
      }
      case Found.Nothing _, Found.Unreadable _ -> throw damaged(expected, found);
    };
  }

  /** What is there, to be recorded: without a UUID it could not be told from any other one. */
  Filesystem identified(Found.Signature there) {
    try {
      return new Filesystem(there.type(), UUID.fromString(there.uuid()));
    } catch (IllegalArgumentException e) {
      throw new VolumeException.PreconditionFailed(
          "%s holds %s without a usable UUID, found \"%s\": give it one with \"tune2fs -U random\" or \"xfs_admin -U generate\" and try again"
              .formatted(holder, there.type(), there.uuid()));
    }
  }

  private FilesystemType supported(String type, Optional<FilesystemType> wanted) {
    FilesystemType there =
        FilesystemType.parse(type)
            .filter(_ -> !type.isEmpty())
            .orElseThrow(
                () ->
                    new VolumeException.PreconditionFailed(
                        "%s holds %s, which is neither ext4 nor xfs: it is left alone"
                            .formatted(holder, type)));
    if (wanted.isPresent() && wanted.get() != there) {
      throw new VolumeException.Incompatible(
          "%s holds %s, asked for: %s".formatted(holder, there.text(), wanted.get().text()));
    }
    return there;
  }

  private VolumeException damaged(String expected, Found found) {
    return new VolumeException.PreconditionFailed(
        "%s is not formatted again: expected %s, found %s. Repair the filesystem or delete the volume"
            .formatted(holder, expected, found));
  }
}
