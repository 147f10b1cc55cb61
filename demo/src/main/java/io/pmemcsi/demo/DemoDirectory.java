package io.pmemcsi.demo;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** The directory with the state of the driver; closing it deletes it. */
record DemoDirectory(Path path) implements AutoCloseable {

  /** The remedy for a disk that is full or read-only. */
  static final String REMEDY =
      "free some space there, or choose another place with"
          + " PMEM_CSI_JAVA_OPTIONS=-Djava.io.tmpdir=/DIRECTORY";

  static DemoDirectory create() {
    try {
      return new DemoDirectory(Files.createTempDirectory("pmem-csi-demo-"));
    } catch (IOException e) {
      throw new FatalException(
          "cannot create a directory for the demo: %s; %s".formatted(Reason.withFile(e), REMEDY),
          e);
    }
  }

  @Override
  public void close() {
    try (Stream<Path> paths = Files.walk(path)) {
      for (Path each : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    } catch (IOException | UncheckedIOException e) {
      throw new FatalException(
          "the demo cannot delete its directory %s: %s; delete it by hand"
              .formatted(path, Reason.withFile(e)),
          e);
    }
  }
}
