package io.pmemcsi.driver.node;

import io.pmemcsi.driver.linux.mount.FilesystemType;
import java.util.List;
import java.util.Optional;

/** How a volume is used on this node, according to a CSI volume capability. */
public sealed interface Access {

  /** At most one target path at a time. */
  boolean singleWriter();

  /** As a device. */
  record Block(boolean singleWriter) implements Access {}

  /** As a mounted filesystem; with no type given, whichever is there. */
  record Mount(Optional<FilesystemType> type, List<String> flags, boolean singleWriter)
      implements Access {
    public Mount {
      flags = List.copyOf(flags);
    }
  }
}
