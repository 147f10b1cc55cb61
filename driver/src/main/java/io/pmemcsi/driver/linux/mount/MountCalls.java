package io.pmemcsi.driver.linux.mount;

import java.io.IOException;
import java.nio.file.Path;

/** The kernel's own calls for mounts. */
public interface MountCalls {

  /**
   * Mounts.
   *
   * @param type the filesystem; empty for a bind mount
   * @throws IOException when the kernel refuses; nothing is mounted then
   */
  void mount(Path source, Path target, String type, MountOptions options) throws IOException;

  /**
   * Bind-mounts with attributes that the mount has from its first moment on, in this mount
   * namespace and in all that it propagates to.
   *
   * @throws IOException when the kernel refuses, as those before 5.12 do; nothing is mounted then
   */
  void bind(Path source, Path target, MountAttributes attributes) throws IOException;

  /**
   * Makes a filesystem consistent on its device and blocks all writes until it is thawed; see
   * fsfreeze(8).
   *
   * @return false if it was frozen already, by another program
   */
  boolean freeze(Path mountPoint) throws IOException;

  /** Ends a freeze; does nothing to a filesystem that is not frozen. */
  void thaw(Path mountPoint) throws IOException;

  /** Unmounts what was mounted last at a path. */
  void unmount(Path target) throws IOException;
}
