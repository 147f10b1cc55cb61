package io.pmemcsi.testbed.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * What {@code testbed/node/setup} provides: programs in {@code bin}, CNI plugins in {@code cni}.
 */
record NodePrograms(Path directory) {

  /** Runs the script, which returns at once where everything is present. */
  static NodePrograms find() {
    try {
      Process setup =
          new ProcessBuilder(Path.of("..", "testbed", "node", "setup").toString())
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      String output = new String(setup.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (setup.waitFor() != 0) {
        throw new IllegalStateException("testbed/node/setup failed: run 'make setup'");
      }
      return new NodePrograms(Path.of(output.strip()));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run testbed/node/setup", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while running testbed/node/setup", e);
    }
  }

  Path bin() {
    return directory.resolve("bin");
  }

  Path cni() {
    return directory.resolve("cni");
  }
}
