package io.pmemcsi.app.demo;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Where the demo keeps the state of the driver; it goes with everything in it. */
record DemoDirectory(Path path) implements AutoCloseable {

  /** What helps where a disk is full or may not be written to. */
  static final String WAY_OUT =
      "make room there, or choose another place with"
          + " PMEM_CSI_JAVA_OPTIONS=-Djava.io.tmpdir=/FOLDER";

  static DemoDirectory create() {
    try {
      return new DemoDirectory(Files.createTempDirectory("pmem-csi-demo-"));
    } catch (IOException e) {
      throw new FatalException(
          "cannot make a folder for the demo: %s; %s".formatted(Reason.withFile(e), WAY_OUT), e);
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
          "the demo cannot remove its folder %s: %s; remove it by hand"
              .formatted(path, Reason.withFile(e)),
          e);
    }
  }
}
