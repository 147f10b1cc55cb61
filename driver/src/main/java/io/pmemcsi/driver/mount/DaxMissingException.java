package io.pmemcsi.driver.mount;

import java.nio.file.Path;

/** A filesystem could be mounted, but not with the direct access that was asked for. */
public final class DaxMissingException extends RuntimeException {

  DaxMissingException(Path device, FilesystemType type) {
    super(
        "%s on %s was mounted without DAX, so it was unmounted again: use the parameter"
                .formatted(type.text(), device)
            + " usage=FileIO if plain file access is enough");
  }
}
