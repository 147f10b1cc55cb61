package io.pmemcsi.driver.node;

import io.pmemcsi.driver.linux.block.Signatures.Found;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import java.util.Optional;
import java.util.UUID;

/** Classifies an unexpected signature on a volume that was never published. */
sealed interface SignatureOrigin {
  /** Left by an mkfs of this driver that was interrupted before its result was recorded. */
  record Own() implements SignatureOrigin {}

  /** A complete filesystem that another program created, and that may hold data. */
  record NotOwned(Found.Signature filesystem) implements SignatureOrigin {}

  /** Something that this driver cannot use and must not destroy. */
  record Unknown(Found found) implements SignatureOrigin {}

  /**
   * Decides by the UUID that our own filesystem would have.
   *
   * @param planned empty where none was chosen; then each filesystem is another program's
   */
  static SignatureOrigin classify(Optional<UUID> planned, Found found) {
    return switch (found) {
      case Found.Nothing _ -> new Own();
      case Found.Unreadable _ -> new Unknown(found);
      case Found.Signature(String _, String uuid)
          when planned.filter(own -> uuid.equalsIgnoreCase(own.toString())).isPresent() ->
          new Own();
      case Found.Signature(String type, String uuid)
          when FilesystemType.parse(type).isPresent() && !uuid.isEmpty() ->
          new NotOwned((Found.Signature) found);
      case Found.Signature _ -> new Unknown(found);
    };
  }
}
