package io.pmemcsi.driver.linux.loop;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The kernel's own calls for loop devices; see loop(4). */
public interface LoopCalls {

  /** What a loop device shows. */
  record Status(FileIdentity file, long offset) {}

  /**
   * Attaches a file, from an offset on, to a free loop device.
   *
   * @return the device
   */
  Path attach(Path file, long offset) throws IOException;

  /** Detaches a device from its file, at once or, if it is open, when the last user closes it. */
  void detach(Path device) throws IOException;

  /** Takes over the size of the file. */
  void refreshSize(Path device) throws IOException;

  /** What a device shows; nothing where it has no file. */
  Optional<Status> status(Path device) throws IOException;

  /** All devices that have a file at this moment. */
  List<Path> attached() throws IOException;
}
