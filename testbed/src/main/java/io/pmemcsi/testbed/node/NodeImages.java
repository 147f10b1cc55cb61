package io.pmemcsi.testbed.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The images that every node has. */
final class NodeImages {

  /** A static busybox, for the pods of tests; without a command it only waits. */
  static final String BUSYBOX = "localhost/busybox:test";

  /** What holds the namespaces of a pod. */
  static final String PAUSE = BUSYBOX;

  private NodeImages() {}

  /** Writes the archive of the busybox image. */
  static Path busybox(NodePrograms programs, Path directory) {
    try {
      Path files = Files.createDirectories(directory.resolve("busybox"));
      Path bin = Files.createDirectories(files.resolve("bin"));
      Files.createDirectories(files.resolve("tmp"));
      Files.copy(programs.bin().resolve("busybox"), bin.resolve("busybox"));
      for (String command :
          List.of(
              "cat", "chmod", "dd", "df", "echo", "id", "ls", "mkdir", "mount", "nc", "sh", "sleep",
              "stat", "sync", "test", "touch", "true")) {
        Files.createSymbolicLink(bin.resolve(command), Path.of("busybox"));
      }
      Path content = Files.createDirectories(directory.resolve("busybox-archive"));
      return ImageArchive.empty(content)
          .add(BUSYBOX, files, List.of("/bin/sleep", "2147483647"))
          .write(directory.resolve("busybox.tar"));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make the busybox image", e);
    }
  }
}
