package io.pmemcsi.driver.linux.mount;

import java.io.IOException;
import java.nio.file.Path;

/** The two calls of the kernel that mount(8) and umount(8) make in the end. */
public interface MountCalls {

  /**
   * Mounts.
   *
   * @param type the filesystem; empty for a bind mount
   * @throws IOException when the kernel refuses; nothing is mounted then
   */
  void mount(Path source, Path target, String type, MountOptions options) throws IOException;

  /** Unmounts what was mounted last at a path. */
  void unmount(Path target) throws IOException;
}
