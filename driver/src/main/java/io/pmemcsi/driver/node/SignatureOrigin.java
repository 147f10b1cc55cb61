package io.pmemcsi.driver.node;

import io.pmemcsi.driver.linux.block.Signatures.Found;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import java.util.Optional;
import java.util.UUID;

/** Whose is what shows up on a volume that was wiped at its creation and given to nobody since. */
sealed interface SignatureOrigin {

  /** What an mkfs of ours has left that was interrupted before its result was recorded. */
  record Ours() implements SignatureOrigin {}

  /** A whole filesystem of somebody else, who may have data there. */
  record Foreign(Found.Signature filesystem) implements SignatureOrigin {}

  /** Something that this driver cannot use and must not destroy. */
  record Unknown(Found found) implements SignatureOrigin {}

  /**
   * Decides by the UUID that our own filesystem would have.
   *
   * @param planned empty where none was chosen; then each filesystem is somebody else's
   */
  static SignatureOrigin judge(Optional<UUID> planned, Found found) {
    return switch (found) {
      case Found.Nothing _ -> new Ours();
      case Found.Unreadable _ -> new Unknown(found);
      case Found.Signature(String _, String uuid)
          when planned.filter(ours -> uuid.equalsIgnoreCase(ours.toString())).isPresent() ->
          new Ours();
      case Found.Signature(String type, String uuid)
          when FilesystemType.parse(type).isPresent() && !uuid.isEmpty() ->
          new Foreign((Found.Signature) found);
      case Found.Signature _ -> new Unknown(found);
    };
  }
}
