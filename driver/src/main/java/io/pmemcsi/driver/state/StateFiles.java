package io.pmemcsi.driver.state;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Small files that survive a crash at any moment: each is there whole, in its old or new form. */
public interface StateFiles {

  /** The names of all regular files in a folder; none when there is no such folder. */
  List<String> list(Path folder) throws IOException;

  byte[] read(Path file) throws IOException;

  /** Replaces or makes a file, on disk when this returns. */
  void write(Path file, byte[] content) throws IOException;

  /** Removes a file, on disk when this returns; a missing one is fine. */
  void delete(Path file) throws IOException;
}
