package io.pmemcsi.driver.linux.mount;

import java.nio.file.Path;

/** A filesystem was mounted, but not with DAX. */
public final class DaxMissingException extends RuntimeException {

  private DaxMissingException(String what) {
    super(what + " the parameter usage=FileIO if plain file access is enough");
  }

  DaxMissingException(Path device, FilesystemType type) {
    this(
        "%s on %s was mounted without DAX, so it was unmounted again: use"
            .formatted(type.text(), device));
  }

  /** For a mount of an earlier call. */
  public static DaxMissingException at(Path target) {
    return new DaxMissingException(
        "what is mounted at %s is mounted without DAX: unmount it and try again, or use"
            .formatted(target));
  }
}
