package io.pmemcsi.driver.state;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Small files that survive a crash at any moment: each is complete, in its old or new form. */
public interface StateFiles {

  /** The names of all that is in a directory except directories; none when it does not exist. */
  List<String> list(Path directory) throws IOException;

  byte[] read(Path file) throws IOException;

  /** Creates or replaces a file, durable on return. */
  void write(Path file, byte[] content) throws IOException;

  /** Removes a file, durable on return; a missing one is fine. */
  void delete(Path file) throws IOException;
}
